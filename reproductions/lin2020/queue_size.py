"""Section 7.4: the size of the bottleneck's queue (figures 21 to 23)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020 import controls
from sojourn_reproductions.lin2020.comparative import ALONE, OF_QUEUES, QUEUES
from sojourn_reproductions.lin2020.runs import of_flow, replications, scenario
from sojourn_reproductions.lin2020.section import PRINTED, Judged, Section

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

_METRICS = {
    "figure-21": "mean_throughput_l4",
    "figure-22": "mean_srtt_l4",
    "figure-23": "retransmissions_per_second_l4",
}
_WHY = Judged(PRINTED, "rate, RTT and queue are printed", "dfc36010 (2026-11-22)")
_ROWS = tuple(reading for row in ALONE for reading in controls.readings(row))


def _cells(table: str, request: Request) -> Iterator[Cell]:
    for row in _ROWS:
        for size in QUEUES:
            document = scenario("queue-size", row)
            queue = {"kind": "fifo", "limit": f"{size} packets"}
            document["topology"]["bottleneck"]["queue"] = queue
            keys = {"form": PRINTED, "table": table, "row": row, "column": f"{size} packets"}
            measure = partial(of_flow, _METRICS[table])
            yield Cell(keys, None, replications(document, request), measure)


def _charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    from sojourn_reproductions.lin2020 import charts

    return charts.queues(rows)


QUEUE_SIZE = Section(
    tables=dict.fromkeys(_METRICS, _WHY),
    cells=_cells,
    statements=OF_QUEUES,
    charts=_charts,
)
