"""Chapter 4 of the report: the overlay. Its unicast experiments."""

from collections.abc import Iterator, Sequence

from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.overlay import cells as goodput
from sojourn_reproductions.gnat2021.overlay import sheets as tables
from sojourn_reproductions.gnat2021.overlay import signalling, statements, times, triage
from sojourn_reproductions.gnat2021.overlay.charts import charts, drawn

_PARTS = (times, goodput, signalling)
TABLES = tuple(part.TABLE for part in _PARTS)
STATEMENTS = (
    *statements.STATEMENTS,
    *times.STATEMENTS,
    *triage.STATEMENTS,
    *signalling.STATEMENTS,
)


def cells(request: Request) -> Iterator[Cell]:
    """Every cell of the sections that are asked for."""
    for part in _PARTS:
        yield from part.cells(request)


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """A sheet for each table."""
    for part in (times, tables, signalling):
        yield from part.sheets(rows)


__all__ = ["STATEMENTS", "TABLES", "cells", "charts", "drawn", "sheets"]
