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
#: A second reading of BBR's rows: its host has the queue that paces.
_PACED = " (fq)"


def readings(row: str) -> Sequence[str]:
    """The readings of a row: BBR as Ubuntu 16.04 runs it, unpaced, and under fq."""
    return (row, row + _PACED) if row == "BBR" else (row,)


def is_second(row: str) -> bool:
    """Whether a row is a second reading."""
    return row.endswith(_PACED)


def flow(row: str) -> Document:
    """What a row's control changes in a flow."""
    setup: dict[str, Any] = {"cca": KINDS[row.removesuffix(_PACED)]}
    return setup | ({"host_queue": "fq"} if is_second(row) else {})
