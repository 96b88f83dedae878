"""Sections 5.1, 5.2 and 5.4: one flow of each control over real paths (tables 3, 11, figures 2 to
6). The paths are chosen after Cubic's baseline, table 3, alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sojourn.campaign.cases import Outcome
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020 import controls
from sojourn_reproductions.lin2020.observations import OF_PATHS
from sojourn_reproductions.lin2020.printed import value
from sojourn_reproductions.lin2020.runs import Measure, Runs, of_flow, replications, scenario
from sojourn_reproductions.lin2020.section import PATH, Judged, Section

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

#: The paper's names of the paths, and the files that stand for them.
PATHS = {"LAN": "path-lan", "WAN-1": "path-wan-1", "WAN-2": "path-wan-2"}
PERFORMANCE, TRANSFERS = "figure-2", "figure-6"
_WHY = Judged(
    PATH,
    "its only form: the paths are real, and known from Cubic's baseline",
    "dfc36010 (2026-11-22)",
)
#: Seconds.
_TRIAL, _BASELINE_TRIAL = 600.0, 24 * 3600.0
#: Transfers: printed sizes and ours (MB), how many were printed, and how long to wait (s).
_SIZES = {"LAN": (1000, 200), "WAN-1": (56, 56), "WAN-2": (1000, 200)}
_PRINTED_TRANSFERS = 50
_PATIENCE = "2000 s"
_KB_PER_SEGMENT = 1.448


def _kilobytes(metric: str, outcome: Outcome) -> float | None:
    segments = of_flow(metric, outcome)
    return None if segments is None else _KB_PER_SEGMENT * segments


_GOODPUT = partial(of_flow, "mean_throughput_l4")
_RETRANSMISSION = partial(of_flow, "retransmissions_per_second_l4")
_MEASURES: Mapping[str, Mapping[str, Measure]] = {
    "3": {
        "Goodput": _GOODPUT,
        "RTT": partial(of_flow, "mean_srtt_l4"),
        "Retransmission": _RETRANSMISSION,
    },
    PERFORMANCE: {
        "Goodput": _GOODPUT,
        "RTT p95": partial(of_flow, "p95_rtt_l4"),
        "Retransmission": _RETRANSMISSION,
    },
    TRANSFERS: {"Goodput": _GOODPUT},
    "11": {
        "t_c": partial(of_flow, "convergence_time_l4"),
        "s": partial(_kilobytes, "stability_l4"),
    },
}
_ROWS = tuple(reading for row in controls.WIRED for reading in controls.readings(row))


def _cells(table: str, request: Request) -> Iterator[Cell]:
    for path in PATHS:
        for row in ("CUBIC",) if table == "3" else _ROWS:
            runs = _runs(table, path, row, request)
            for name, measure in _MEASURES[table].items():
                # Table 3 has a row for each path, the others have columns of each.
                place = (path, name) if table == "3" else (row, f"{path} {name}")
                keys = {"form": PATH, "table": table, "row": place[0], "column": place[1]}
                known = None if request.overrides else _printed(table, *place)
                yield Cell(keys, known, runs, measure)


def _printed(table: str, row: str, column: str) -> float | None:
    label = {"3": "Scenario", "11": "Protocol"}.get(table, "Protocols")
    return value(table, controls.printed_row(row), column, label)


def _runs(table: str, path: str, row: str, request: Request) -> Runs:
    document = scenario(PATHS[path], row)
    if table != TRANSFERS:
        printed = _BASELINE_TRIAL if table == "3" else _TRIAL
        return replications(document, request, printed)
    size = _SIZES[path][0 if request.full else 1]
    document["flows"][0]["traffic"] = {"kind": "sized", "size": f"{size} MB"}
    document |= {"duration": _PATIENCE, "sample_interval": "1 s"}
    if request.full:
        document["sweep"]["replications"] = _PRINTED_TRANSFERS
    return replications(document, request)


def _charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    from sojourn_reproductions.lin2020 import charts

    return charts.performance(rows)


REAL_PATHS = Section(
    tables=dict.fromkeys(("3", PERFORMANCE, TRANSFERS, "11"), _WHY),
    cells=_cells,
    statements=OF_PATHS,
    charts=_charts,
)
