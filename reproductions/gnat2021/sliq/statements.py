"""What sections 3.1 to 3.3 state, and what the comparison aims at.

The aims were settled before the transport was written; the card says what was changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.gnat2021.sliq.cells import (
    BUFFERING,
    DEADLINES,
    DELIVERED,
    LOSS,
    PATH,
    SPEED,
)

_WORST = 3


def _of(rows: Sequence[Row], table: str, *columns: str) -> list[Row]:
    """Rows of a table with both values; a ``KeyError`` if there are none."""
    found = [
        row
        for row in rows
        if row["table"] == table
        and (not columns or row["column"] in columns)
        and row["published"] is not None
        and row["measured"] is not None
    ]
    if not found:
        raise KeyError(f"published and measured values of {table}")
    return found


def _all(rows: Sequence[Row], fails: Callable[[Row], bool]) -> Finding:
    bad = [row for row in rows if fails(row)]
    names = [
        f"{row['row']} {row['column']} {row['measured']:.4g} for {row['published']:g}"
        for row in bad[:_WORST]
    ]
    more = f" and {len(bad) - _WORST} more" if len(bad) > _WORST else ""
    numbers = f"{len(rows) - len(bad)} of {len(rows)}" + "".join(f"; {name}" for name in names)
    return Finding(not bad, numbers + more)


def _unit(published: float) -> float:
    """One in the last digit that is printed, as far as the number tells."""
    _, _, decimals = f"{published:g}".partition(".")
    return 10.0 ** -len(decimals)


def _off(share: float, row: Row) -> bool:
    published, measured = row["published"], row["measured"]
    room = max(share * abs(published), _unit(published))
    return bool(abs(measured - published) > room * (1 + 1e-9))


def _without_loss(rows: Sequence[Row]) -> Finding:
    speeds = _of(rows, SPEED, "sliq_cubic", "sliq_copa")
    found = [row for row in speeds if row["row"] != "rate_mbit=300"]
    lossless = [row for row in _of(rows, LOSS, "sliq_cubic", "sliq_copa") if _per(row) == 0]
    return _all([*found, *lossless], partial(_off, 0.015))


def _per(row: Row) -> float:
    return float(row["row"].partition("=")[2])


def _copa_with_loss(rows: Sequence[Row]) -> Finding:
    return _all([r for r in _of(rows, LOSS, "sliq_copa") if _per(r) > 0], partial(_off, 0.05))


def _cubic_with_loss(rows: Sequence[Row]) -> Finding:
    found = [row for row in _of(rows, LOSS, "sliq_cubic") if _per(row) > 0]
    return _all(found, lambda row: not row["min"] <= row["published"] <= row["max"])


def _shares(rows: Sequence[Row]) -> Finding:
    found = _of(rows, BUFFERING, "cubic_share_percent")
    return _all(found, lambda row: abs(row["measured"] - row["published"]) > 5)


def _dual_goodput(rows: Sequence[Row]) -> Finding:
    return _all(_of(rows, BUFFERING, "goodput_mbit"), partial(_off, 0.015))


def _packets(rows: Sequence[Row]) -> Finding:
    return _all(_of(rows, DELIVERED), partial(_off, 0.02))


def _efficiencies(rows: Sequence[Row]) -> Finding:
    found = _of(rows, DEADLINES, "efficiency_percent")
    return _all(found, lambda row: abs(row["measured"] - row["published"]) > 2)


def _raw_goodput(rows: Sequence[Row]) -> Finding:
    return _all(_of(rows, PATH), partial(_off, 0.05))


def _in_time(rows: Sequence[Row]) -> Finding:
    late = [r for r in rows if r["table"] == DEADLINES and r["column"] == "late_percent"]
    if not late or any(row["measured"] is None for row in late):
        raise KeyError(f"measured values of {DEADLINES}")
    numbers = ", ".join(f"{row['row']}: {row['measured']:.2f} %" for row in late)
    return Finding(all(row["measured"] <= 0.5 for row in late), numbers)


def _more_buffer_more_cubic(rows: Sequence[Row]) -> Finding:
    found = [row["measured"] for row in _of(rows, BUFFERING, "cubic_share_percent")]
    return Finding(found == sorted(found), ", ".join(f"{share:.1f}" for share in found))


def _copa_withstands(rows: Sequence[Row]) -> Finding:
    per = "per=0.3"
    by = {r["column"]: r["measured"] for r in rows if r["table"] == LOSS and r["row"] == per}
    cubic, copa = by.get("sliq_cubic"), by.get("sliq_copa")
    if cubic is None or copa is None:
        raise KeyError(f"measured values at {per}")
    return Finding(cubic < 0.2 and copa > 6, f"Cubic {cubic:.3f}, Copa {copa:.2f} Mbit/s")


STATEMENTS = (
    Statement(
        "copa-withstands-loss",
        "3.1.4",
        "At 30 % loss Cubic carries next to nothing, Copa about 6.3 Mbit/s",
        "at PER 0.3 Cubic below 0.2, Copa above 6 Mbit/s",
        _copa_withstands,
    ),
    Statement(
        "buffer-decides-share",
        "3.2.6",
        "The more buffer, the larger Cubic's share of the packets",
        "it never falls from one size to the next",
        _more_buffer_more_cubic,
    ),
    Statement(
        "in-time",
        "3.3.4",
        "99.5 % of the messages are delivered within the deadline",
        "at most 0.5 % later, median over the seeds",
        _in_time,
    ),
    Statement(
        "goal-goodput-without-loss",
        GOALS,
        "Goodput without loss (3.1.4, 3.1.5)",
        "within 1.5 % or the last printed digit; 300 Mbit/s left out",
        _without_loss,
    ),
    Statement(
        "goal-copa-with-loss", GOALS, "Copa's goodput with loss", "within 5 %", _copa_with_loss
    ),
    Statement(
        "goal-cubic-with-loss",
        GOALS,
        "Cubic's goodput with loss",
        "the printed value is between the least and the largest of the seeds (aim: 95 % of them)",
        _cubic_with_loss,
    ),
    Statement("goal-shares", GOALS, "Cubic's share (3.2.6)", "within 5 points", _shares),
    Statement(
        "goal-dual-goodput",
        GOALS,
        "Goodput of Cubic and Copa in parallel (3.2.6)",
        "within 1.5 % or the last printed digit",
        _dual_goodput,
    ),
    Statement("goal-packets", GOALS, "Packets delivered (3.1.6, 3.1.8)", "within 2 %", _packets),
    Statement("goal-efficiency", GOALS, "Efficiency (3.3.4)", "within 2 points", _efficiencies),
    Statement("goal-raw-goodput", GOALS, "Raw goodput (3.3.5)", "within 5 %", _raw_goodput),
)
