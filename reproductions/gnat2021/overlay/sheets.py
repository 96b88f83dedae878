"""The table of chapter 4: expected, best possible and measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.overlay.cells import (
    DELAY,
    GOODPUT,
    LOSS,
    ORACLE,
    PLAIN,
    PLAIN_DELAY,
    PLAIN_LOSS,
    REORDERED,
    TABLE,
)
from sojourn_reproductions.gnat2021.rows import by_row

_HEADER = (
    "section",
    "flows",
    "report (Mbit/s)",
    "optimum",
    "here",
    "shortest path",
    "delay (ms)",
    "shortest path",
    "lost (%)",
    "shortest path",
    "reordered (%)",
)
_COLUMNS = (ORACLE, GOODPUT, PLAIN, DELAY, PLAIN_DELAY, LOSS, PLAIN_LOSS, REORDERED)


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One table for all sections but 4.12."""
    lines = []
    for (section, name), columns in by_row(rows, TABLE).items():
        values = [columns.get(column, {}).get("measured") for column in _COLUMNS]
        line = [section, name, columns.get(GOODPUT, {}).get("published"), *values]
        lines.append(line)
    if lines:
        yield Sheet(TABLE, "4: goodput of each flow", _HEADER, lines, words=2)
