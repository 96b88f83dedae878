"""The table of chapter 4: expected, best possible and measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.papers.gnat2021.overlay.cells import DELAY, GOODPUT, ORACLE, TABLE
from sojourn.papers.sheet import Sheet
from sojourn.papers.statements import Row

_HEADER = ("section", "flows", "report (Mbit/s)", "optimum", "here", "delay (ms)")


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One table for all sections."""
    by_row: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row["table"] == TABLE:
            by_row.setdefault((row["section"], row["row"]), {})[row["column"]] = row
    if not by_row:
        return
    lines = []
    for (section, name), columns in by_row.items():
        best, delay = (columns.get(column, {}).get("measured") for column in (ORACLE, DELAY))
        goodput = columns.get(GOODPUT, {})
        line = [section, name, goodput.get("published"), best, goodput.get("measured"), delay]
        lines.append(line)
    yield Sheet(TABLE, "4: goodput of each flow", _HEADER, lines, words=2)
