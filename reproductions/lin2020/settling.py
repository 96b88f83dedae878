"""Section 7.2: how fast the window settles over RTTs and losses (figure 19, its wired half)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020 import controls
from sojourn_reproductions.lin2020.comparative import OF_SETTLING, SETTLING, place
from sojourn_reproductions.lin2020.printed import value
from sojourn_reproductions.lin2020.runs import of_flow, replications, scenario
from sojourn_reproductions.lin2020.section import PRINTED, Judged, Section

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

FIGURE = "figure-19"
_WHY = Judged(PRINTED, "rate, RTT and loss are printed", "dfc36010 (2026-11-22)")
#: Seconds.
_TRIAL = 600.0
_ROWS = (*controls.readings("BBR"), "CUBIC", "Veno", "Westwood+")


def _cells(table: str, request: Request) -> Iterator[Cell]:
    for rtt, loss in SETTLING:
        for row in _ROWS:
            document = scenario("settling", row)
            document["flows"][0]["rtt"] = f"{rtt} ms"
            document["topology"]["bottleneck"] |= {"loss": f"{loss} %", "reverse_loss": f"{loss} %"}
            column = place(rtt, loss)
            keys = {"form": PRINTED, "table": table, "row": row, "column": column}
            known = None if request.overrides else value(table, row, column)
            runs = replications(document, request, _TRIAL)
            yield Cell(keys, known, runs, partial(of_flow, "convergence_time_l4"))


def _charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    from sojourn_reproductions.lin2020 import charts

    return charts.settling(rows)


SETTLE = Section(
    tables={FIGURE: _WHY},
    cells=_cells,
    statements=OF_SETTLING,
    charts=_charts,
)
