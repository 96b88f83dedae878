"""The paper's congestion controls, and Linux 4.9's versions of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sojourn.scenario import Document

#: The paper's names; ``stack = "linux-4.9"`` chooses that kernel's version of each.
KINDS = {
    "CUBIC": "cubic",
    "Illinois": "illinois",
    "NewReno": "reno",
    "BIC": "bic",
    "Scalable": "scalable",
    "HighSpeed": "highspeed",
    "Vegas": "vegas",
    "YeAH": "yeah",
    "Hybla": "hybla",
    "BBR": "bbr",
    "H-TCP": "htcp",
    "Westwood+": "westwood",
    "Veno": "veno",
}
#: Of the wired scenarios.
WIRED = tuple(KINDS)[:11]
#: Second readings of BBR's rows: its host has the queue that paces, or has not.
PACED, UNPACED = " (fq)", " (no fq)"


def readings(row: str, second: str = PACED) -> Sequence[str]:
    """The readings of a row: of BBR two, and what the second one is called says what it is."""
    return (row, row + second) if row == "BBR" else (row,)


def printed_row(row: str) -> str:
    """The row as printed."""
    return row.removesuffix(PACED).removesuffix(UNPACED)


def is_second(row: str) -> bool:
    """Whether a row is a second reading."""
    return row != printed_row(row)


def flow(row: str, second: str = PACED) -> Document:
    """What a row's control changes in a flow, where a second reading is called so."""
    setup: dict[str, Any] = {"cca": KINDS[printed_row(row)]}
    paced = row.endswith(PACED) or (row == "BBR" and second == UNPACED)
    return setup | ({"host_queue": "fq"} if paced else {})
