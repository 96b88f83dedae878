"""Looking values up among the rows of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

from sojourn.reproduction.statements import Finding, Row, Statement

Check = Callable[[Sequence[Row]], Finding]


class Values:
    """Measured values of one form by table, row and column."""

    def __init__(self, rows: Sequence[Row], form: str) -> None:
        self._values = {
            (r["table"], r["row"], r["column"]): r["measured"]
            for r in rows
            if r["form"] == form and r["measured"] is not None
        }

    def __call__(self, table: str, row: str, column: str) -> float:
        """One value; a ``KeyError`` if it was not run."""
        place = (table, row, column)
        if place not in self._values:
            raise KeyError(f"{row}, {column} of table {table}")
        value: float = self._values[place]
        return value

    def drawn(self, table: str, row: str, column: str) -> float:
        """The same for a figure, which has a gap where one was not run."""
        return float(self._values.get((table, row, column), nan))

    def column(self, table: str, rows: Sequence[str], column: str) -> dict[str, float]:
        """A value for each of those rows."""
        return {row: self(table, row, column) for row in rows}


def told(values: dict[str, float]) -> str:
    """Named numbers."""
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items())


def statement(
    name: str,
    section: str,
    text: str,
    criterion: str,
    form: str,
    holds: Callable[[Values], Finding],
) -> Statement:
    """A statement that is judged by the values of one form."""
    return Statement(name, section, text, criterion, lambda rows: holds(Values(rows, form)))
