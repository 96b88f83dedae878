"""Lin et al. 2020: thirteen congestion controls of Linux 4.9, in Mininet and on real paths.

One module per section of the paper, and one line of ``SECTIONS``. Every table comes in one form or
more: with the parameters as printed, with inferred ones, after the baseline of a real path, or as
measured on a modelled one; ``tables/forms.csv`` names the one that is judged, and since when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.campaign.cases import AnyCase, Results
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020 import exchangeable, order, show, traces, wifi_traces
from sojourn_reproductions.lin2020.cost import COST
from sojourn_reproductions.lin2020.pairs import PAIRS
from sojourn_reproductions.lin2020.paths import REAL_PATHS
from sojourn_reproductions.lin2020.queue_size import QUEUE_SIZE
from sojourn_reproductions.lin2020.reverse import REVERSE
from sojourn_reproductions.lin2020.settling import SETTLE
from sojourn_reproductions.lin2020.wifi import WIFI

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

_CARD = read_card(Path(__file__).with_name("card.toml"))
SECTIONS = (REAL_PATHS, PAIRS, WIFI, COST, SETTLE, REVERSE, QUEUE_SIZE)
#: Figures of running samples.
_SAMPLED = (traces, wifi_traces)
#: The judged form of every table.
FORMS = {table: judged for section in SECTIONS for table, judged in section.tables.items()}


def _cells(request: Request) -> Iterator[Cell]:
    for section in SECTIONS:
        for table in section.tables:
            if not request.tables or table in request.tables:
                yield from section.cells(table, request)


def _sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    yield from show.grids(rows)
    yield from show.errors(rows, FORMS)
    yield from order.sheet(rows, FORMS, _CARD)
    yield from exchangeable.sheet(rows, FORMS)
    for section in SECTIONS:
        yield from section.sheets(rows)
    told = [(table, judged.form, judged.reason, judged.since) for table, judged in FORMS.items()]
    header = ("table", "form", "reason", "since")
    yield Sheet("forms", "Judged form of each table", header, told, words=len(header))


def _charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    made = {name: chart for section in SECTIONS for name, chart in section.charts(rows).items()}
    for module in _SAMPLED:
        made |= module.charts(rows, request, results)
    return made


def _drawn(rows: Sequence[Mapping[str, Any]], request: Request) -> Iterator[AnyCase]:
    for module in _SAMPLED:
        yield from module.drawn(rows, request)


LIN2020 = Paper(
    name="lin2020",
    title="Lin et al. 2020: congestion controls of Linux 4.9 (Mininet, real paths)",
    keys=("form", "table", "row", "column"),
    labels=("row",),
    tables=tuple(FORMS),
    card=_CARD,
    cells=_cells,
    statements=tuple(statement for section in SECTIONS for statement in section.statements),
    sheets=_sheets,
    charts=_charts,
    drawn=_drawn,
    shortened=True,
)
