"""GNAT: Raytheon BBN's report on Generalized Network Assisted Transport (2021).

Sections 2.1 to 2.4, 3.1 to 3.3 and chapter 4; a module or package per part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.campaign.cases import AnyCase, Results
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021 import capacity, multicast, overlay, sliq, slots


def _cells(request: Request) -> Iterator[Cell]:
    if request.touches(capacity.SECTION) and _asks(request, (capacity.TABLE,)):
        yield from capacity.cells(request)
    yield from sliq.cells(request)
    yield from slots.cells(request)
    yield from multicast.cells(request)
    yield from overlay.cells(request)


def _asks(request: Request, tables: Sequence[str]) -> bool:
    return not request.tables or not {*request.tables}.isdisjoint(tables)


def _capacity(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["section"] == capacity.SECTION]


def _sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    if mine := _capacity(rows):
        yield from capacity.sheets(mine)
    yield from sliq.sheets(rows)
    yield from slots.sheets(rows)
    yield from multicast.sheets(rows)
    yield from overlay.sheets(rows)


def _drawn(keys: Sequence[Mapping[str, Any]], request: Request) -> Iterator[AnyCase]:
    yield from slots.drawn(keys)
    for part in (sliq, multicast, overlay):
        yield from part.drawn(keys, request)


def _charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Any]:
    mine = _capacity(rows)
    made: dict[str, Any] = {**(capacity.charts(mine) if mine else {})}
    made |= slots.charts(rows, results)
    for part in (sliq, multicast, overlay):
        made |= part.charts(rows, request, results)
    return made


GNAT2021 = Paper(
    name="gnat2021",
    title="GNAT 2021: models (2), SLIQ (3.1 to 3.3), overlay (4)",
    keys=("section", "table", "row", "column"),
    labels=("row", "column"),
    tables=(capacity.TABLE, slots.TABLE, *sliq.TABLES, multicast.TABLE, *overlay.TABLES),
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=_cells,
    statements=(
        *capacity.STATEMENTS,
        *slots.STATEMENTS,
        *sliq.STATEMENTS,
        *multicast.STATEMENTS,
        *overlay.STATEMENTS,
    ),
    sheets=_sheets,
    charts=_charts,
    drawn=_drawn,
)
