"""What a source says about its results in words, or what a comparison aims at, and whether it holds
here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sojourn.reproduction.sheet import Sheet

#: A row of the comparison: its keys are text, ``compare.VALUES`` numbers or ``None``. A check knows
#: which it asks for.
Row = Mapping[str, Any]
NAME = "statements"
#: The table of those that are not judged.
CALIBRATED = "calibrated"
#: Columns of ``tables/statements.csv``.
HEADER = ("id", "section", "statement", "criterion", "finding", "numbers")
#: The section of what the source does not state: our own goals.
GOALS = "goals"


@dataclass(frozen=True)
class Finding:
    """Whether a criterion is met, and by which numbers."""

    #: ``None``: the cells that it needs were not all run.
    confirmed: bool | None
    numbers: str

    @property
    def was_run(self) -> bool:
        """Whether all cells that it needs were run."""
        return self.confirmed is not None

    @property
    def word(self) -> str:
        """As it is printed."""
        return {True: "confirmed", False: "not confirmed", None: "not run"}[self.confirmed]


@dataclass(frozen=True)
class Statement:
    """An observation of the source with the numeric criterion that stands for it.

    A criterion is settled before the first run that it judges; the card says which were not.
    """

    id: str
    #: Of the source; ``GOALS`` for one of our own.
    section: str
    text: str
    criterion: str
    #: Judges the rows of the comparison. A ``KeyError`` says that a row it needs is missing.
    check: Callable[[Sequence[Row]], Finding]


def judge(statements: Iterable[Statement], rows: Sequence[Row]) -> list[tuple[Statement, Finding]]:
    """Each statement with its finding."""
    return [(statement, _finding(statement, rows)) for statement in statements]


def _finding(statement: Statement, rows: Sequence[Row]) -> Finding:
    try:
        return statement.check(rows)
    except KeyError as missing:
        return Finding(None, f"needs {missing.args[0]}")


def row_of(rows: Iterable[Row], **keys: str) -> Row:
    """The row with these keys, published and measured; a ``KeyError`` if there is none."""
    for row in rows:
        if all(row[key] == value for key, value in keys.items()) and _complete(row):
            return row
    raise KeyError(f"published and measured {' '.join(keys.values())}")


def all_complete(rows: Iterable[Row], expected: int, **keys: str) -> list[Row]:
    """The ``expected`` rows with these keys; a ``KeyError`` if some were not run."""
    found = [r for r in rows if all(r[k] == v for k, v in keys.items()) and _complete(r)]
    if len(found) < expected:
        what = f" of {' '.join(keys.values())}" if keys else ""
        raise KeyError(f"all {expected} values{what}")
    return found


def _complete(row: Row) -> bool:
    return row["published"] is not None and row["measured"] is not None


def sheet(judged: Iterable[tuple[Statement, Finding]]) -> Sheet:
    """The statements as a table."""
    rows = [(s.id, s.section, s.text, s.criterion, f.word, f.numbers) for s, f in judged]
    return Sheet(NAME, "Statements", HEADER, rows, words=len(HEADER))


def calibrated(met: Iterable[tuple[Statement, Finding]]) -> Sheet:
    """Those whose results had a part in the choice of parameters: how well they were fitted."""
    title = "Calibrated: how well what parameters were fitted to is met; not judged"
    return replace(sheet(met), name=CALIBRATED, title=title)


def judged_alone(statements: Sheet) -> Sheet:
    """Those that were judged; its title tells of the others, which may be a hundred."""
    at = HEADER.index("finding")
    kept = [row for row in statements.rows if row[at] != Finding(None, "").word]
    missing = len(statements.rows) - len(kept)
    title = f"Statements ({missing} more need what was not run)" if missing else "Statements"
    if not kept:
        title = f"Statements: all {missing} need what was not run"
    return replace(statements, title=title, rows=kept)
