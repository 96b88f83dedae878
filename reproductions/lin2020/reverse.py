"""Section 7.3: one flow of each control, with and without a UDP flow against it (table 19)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.lin2020 import controls, order
from sojourn_reproductions.lin2020.comparative import OF_REVERSE
from sojourn_reproductions.lin2020.printed import printed
from sojourn_reproductions.lin2020.runs import of_flow, replications, scenario
from sojourn_reproductions.lin2020.section import INFERRED, PRINTED, Judged, Section

_METRICS = {
    "Goodput": "mean_throughput_l4",
    "RTT": "mean_srtt_l4",
    "Retr.": "retransmissions_per_second_l4",
}
_HALVES = {"UDP Flow Deactivated": "table-19", "UDP Flow Activated": "table-19-reverse"}
_FORMS = {PRINTED: "", INFERRED: "-inferred"}


def _cells(table: str, request: Request) -> Iterator[Cell]:
    published = printed(table)
    rows = [reading for row in published for reading in controls.readings(row)]
    for form, suffix in _FORMS.items():
        for half, name in _HALVES.items():
            runs = {row: replications(scenario(name + suffix, row), request) for row in rows}
            for column, metric in _METRICS.items():
                for row in rows:
                    keys = {"form": form, "table": table, "row": row, "column": f"{half} {column}"}
                    value = published[controls.printed_row(row)][keys["column"]]
                    known = None if request.overrides else value
                    yield Cell(keys, known, runs[row], partial(of_flow, metric))


_WHY = "buffers are not printed, and decide where slow start ends: a send buffer of Linux 4.9"
_SINCE = "dfc36010 (2026-11-22), results known; card.toml has which columns were judged before"
_TABLES = {"19": Judged(INFERRED, _WHY, _SINCE)}
_COLUMNS = [f"{half} Goodput" for half in _HALVES]
REVERSE = Section(
    tables=_TABLES,
    cells=_cells,
    statements=(*OF_REVERSE, *order.goals(_TABLES, _COLUMNS)),
)
