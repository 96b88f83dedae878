"""Whether the controls come in the paper's order, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sojourn.papers.rank import CONFIDENCE, RankCorrelation, rank_correlation
from sojourn.papers.sheet import Sheet
from sojourn.papers.statements import GOALS, Finding, Row, Statement

#: Columns of the table, by what they are of.
COLUMNS = {
    "goodput": "UDP Flow Deactivated Goodput",
    "RTT": "UDP Flow Deactivated RTT",
    "retransmissions": "UDP Flow Deactivated Retr.",
}


def order(rows: Sequence[Row], column: str, readings: Sequence[str] = ()) -> RankCorrelation:
    """The rank correlation of a column over the printed rows, second ``readings`` left out."""
    pairs = [
        (row["published"], row["measured"])
        for row in rows
        if row["column"] == column
        and row["row"] not in readings
        and None not in (row["published"], row["measured"])
    ]
    return rank_correlation(tuple(p for p, _ in pairs), tuple(m for _, m in pairs))


def sheet(rows: Sequence[Row], readings: Sequence[str]) -> Iterator[Sheet]:
    """The rank correlations as a table; nothing if too few rows were run."""
    lines = []
    for column in COLUMNS.values():
        try:
            found = order(rows, column, readings)
        except KeyError:
            continue
        lines.append((column, found.count, found.tau, found.low, found.high))
    if lines:
        title = f"Order of the controls: Kendall's tau with its {CONFIDENCE:.0%} bootstrap interval"
        header = ("column", "controls", "tau", "low", "high")
        yield Sheet("rank-correlation", title, header, lines)


def statements(readings: Sequence[str]) -> tuple[Statement, ...]:
    """One per column: that the order is the paper's rather than any."""
    return tuple(
        Statement(
            f"order-{column.split()[-1].lower().rstrip('.')}",
            GOALS,
            f"The controls come in the paper's order of {name}",
            f"Kendall's tau: its {CONFIDENCE:.0%} interval lies above 0",
            _above_zero(column, readings),
        )
        for name, column in COLUMNS.items()
    )


def _above_zero(column: str, readings: Sequence[str]) -> Callable[[Sequence[Row]], Finding]:
    def check(rows: Sequence[Row]) -> Finding:
        found = order(rows, column, readings)
        told = f"tau {found.tau:.2f} ({found.low:.2f} to {found.high:.2f}), {found.count} controls"
        return Finding(found.low > 0, told)

    return check
