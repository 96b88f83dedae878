"""A table, apart from where it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers; a value in ``best`` (row, column) stands out."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    best: frozenset[tuple[int, int]] = frozenset()
    #: How many columns at the left are text.
    words: int = 1
