"""What a source says about its results in words, and whether it holds here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.papers.sheet import Sheet

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """Whether a criterion is met, and by which numbers."""

    #: ``None``: the cells that it needs were not all run.
    confirmed: bool | None
    numbers: str

    @property
    def word(self) -> str:
        """As it is printed."""
        return {True: "confirmed", False: "not confirmed", None: "not run"}[self.confirmed]


@dataclass(frozen=True)
class Statement:
    """An observation of the source with the numeric criterion that stands for it.

    A criterion is settled before the first run that it judges.
    """

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


def sheet(judged: Iterable[tuple[Statement, Finding]]) -> Sheet:
    """The statements as a table."""
    header = ("statement", "criterion", "finding", "numbers")
    rows = [(s.text, s.criterion, f.word, f.numbers) for s, f in judged]
    return Sheet("statements", "Statements of the source", header, rows, words=len(header))
