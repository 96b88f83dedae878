"""What sections 3.2.7 to 3.2.10 say of their plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.sliq.measured import value
from sojourn_reproductions.gnat2021.sliq.outages import LENGTHS, OUTAGES, SIDES

_ONE_WAY = ("3.2.9", "3.2.10")


def _column(
    rows: Sequence[Row], column: str, sections: Iterable[str] = LENGTHS
) -> dict[tuple[str, str], float]:
    return {
        (section, side): value(rows, OUTAGES, side, column, section)
        for section in sections
        for side in SIDES
    }


def _told(found: dict[tuple[str, str], float]) -> str:
    return ", ".join(f"{section} {side} {number:.3g}" for (section, side), number in found.items())


def _slow_down(rows: Sequence[Row]) -> Finding:
    left = _column(rows, "left_percent")
    return Finding(all(share < 10 for share in left.values()), f"{_told(left)} %")


def _rebound(rows: Sequence[Row]) -> Finding:
    back = _column(rows, "back_after_s")
    return Finding(all(time <= 3 for time in back.values()), f"{_told(back)} s")


def _modes(rows: Sequence[Row]) -> Finding:
    modes = _column(rows, "outage_mode_s", _ONE_WAY)
    right = all((time > 0) == (side == "client") for (_, side), time in modes.items())
    return Finding(right, f"{_told(modes)} s")


def _server_later(rows: Sequence[Row]) -> Finding:
    back = _column(rows, "back_after_s", _ONE_WAY)
    later = all(back[section, "server"] >= back[section, "client"] for section in _ONE_WAY)
    return Finding(later, f"{_told(back)} s")


STATEMENTS = (
    Statement(
        "outage-slows-down",
        "3.2.7",
        "In an outage, of both directions or of one, both ends slow down to near zero",
        "in its second half each sends below 10 % of before",
        _slow_down,
    ),
    Statement(
        "outage-rebounds",
        "3.2.7",
        "Once an outage is over, both ends rebound quickly",
        "each sends at 90 % of before within 3 s",
        _rebound,
    ),
    Statement(
        "client-enters-outage-mode",
        "3.2.9",
        "When only the server's packets are lost, the client enters outage mode, the server not",
        "so it is in 3.2.9 and 3.2.10",
        _modes,
    ),
    Statement(
        "server-rebounds-later",
        "3.2.9",
        "Then the server takes slightly longer to be back, because it was not in outage mode",
        "its first 100 ms at 90 % of before are no earlier than the client's, in 3.2.9 and 3.2.10",
        _server_later,
    ),
)
