"""Section 7.3: one flow of each control, with and without a UDP flow against it (table 19)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sojourn.papers.lin2020 import controls, order
from sojourn.papers.lin2020.printed import printed
from sojourn.papers.lin2020.runs import of_flow, replications, scenario
from sojourn.papers.lin2020.section import PRINTED, Judged, Section
from sojourn.papers.paper import Cell, Request

_METRICS = {
    "Goodput": "mean_throughput_l4",
    "RTT": "mean_srtt_l4",
    "Retr.": "retransmissions_per_second_l4",
}
_HALVES = {"UDP Flow Deactivated": "table-19", "UDP Flow Activated": "table-19-reverse"}


def _cells(table: str, request: Request) -> Iterator[Cell]:
    published = printed(table)
    rows = [reading for row in published for reading in controls.readings(row)]
    for half, name in _HALVES.items():
        runs = {row: replications(_document(name, row), request) for row in rows}
        for column, metric in _METRICS.items():
            for row in rows:
                keys = {"form": PRINTED, "table": table, "row": row, "column": f"{half} {column}"}
                value = published[row.removesuffix(" (fq)")][keys["column"]]
                known = None if request.overrides else value
                yield Cell(keys, known, runs[row], partial(of_flow, metric))


def _document(name: str, row: str) -> dict[str, object]:
    document = scenario(name)
    document["flows"][0] |= controls.flow(row)
    return document


_TABLES = {"19": Judged(PRINTED, "the path of the table is printed whole")}
_COLUMNS = [f"{half} {column}" for half in _HALVES for column in _METRICS]
REVERSE = Section(
    tables=_TABLES,
    cells=_cells,
    statements=tuple(order.goals(_TABLES, _COLUMNS)),
    choices=(
        "table 19: FIFO of 1000 packets each way, links of 1 Gbit/s beside it, 6 MB of buffer,",
        "no segmentation offload; the UDP flow sends 100 Mbit/s of packets of 1448 B of payload",
    ),
)
