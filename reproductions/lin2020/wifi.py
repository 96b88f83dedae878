"""Section 6: laptops that send over Wi-Fi, 2.4 GHz (802.11n) and 5 GHz (802.11ac), tables 12-18 and
figures 10-13; and the Wi-Fi half of section 7.2, figure 19.

The set-up of each band is ``experiments/lin2020/wifi-BAND.toml``. Width and mode are by Cubic's
goodput and RTT alone; the delay beside the air and that there are no large segments were settled
after results (the card says which). Table 13 has no values at hand; it is run all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sojourn.campaign.cases import Outcome
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.statements import Row
from sojourn.scenario import Document
from sojourn_reproductions.lin2020 import controls
from sojourn_reproductions.lin2020.pairs import JAIN, SUM, jain, throughput, total
from sojourn_reproductions.lin2020.printed import value
from sojourn_reproductions.lin2020.runs import Measure, Runs, of_flow, replications, scenario
from sojourn_reproductions.lin2020.section import MEASURED, Judged, Section
from sojourn_reproductions.lin2020.wifi_goals import STATEMENTS
from sojourn_reproductions.lin2020.wifi_tables import (
    BANDS,
    QUANTILES,
    SIMULATED,
    TRANSFERS,
    at_quantile,
)

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

#: The band of each table.
_ALONE = {"12": "2.4", "13": "5"}
#: ... and the control of the second flow; ``None``: that of the first.
_PAIRS = {"14": ("2.4", "CUBIC"), "15": ("5", "CUBIC"), "16": ("2.4", None), "17": ("5", None)}
_CONVERGENCE = "18"
_ROWS = ("CUBIC", "NewReno", "BBR", "Westwood+", "Veno")
#: Columns of tables 12 and 13. ``Inter.`` is figure 10's interval between data segments, ms.
_COLUMNS = {
    "Thp.": "mean_throughput_l4",
    "RTT": "mean_srtt_l4",
    "Retr.": "retransmissions_per_second_l4",
    "Cwnd.": "mean_cwnd_l4",
    "N_ACK_Block": "ack_block_rate_l4",
    "P_ACK_Block": "acks_per_block_l4",
    "Inter.": "mean_send_interval_l4",
}
#: Segments of 1448 B in KB.
_KILOBYTES = 1.448
#: With ``--full``, s.
_PRINTED = 600.0
#: Transfers: MB and how many, ours and printed, and how long to wait.
_SIZE, _PRINTED_SIZE = 360, 3600
_REPEATED, _PRINTED_REPEATED = 5, 20
_PATIENCE = "600 s"
#: Controls of figure 19.
_SETTLING = (*controls.readings("BBR"), "CUBIC", "Veno", "Westwood+")
#: What table 18 and figure 19 take, s: a moving average over 30 s needs more than the other tables.
_LONG = "120 s"
_WHY = (
    "its only form: width and mode are by Cubic's row, delay and offload were changed after results"
)


def _rows() -> Iterator[str]:
    return (reading for row in _ROWS for reading in controls.readings(row))


def _cells(table: str, request: Request) -> Iterator[Cell]:
    if table in _ALONE:
        return _alone(table, request)
    others = {_CONVERGENCE: _convergence, SIMULATED: _simulated, TRANSFERS: _transfers}
    return others[table](request) if table in others else _pairs(table, request)


def _alone(table: str, request: Request) -> Iterator[Cell]:
    for row in _rows():
        runs = _runs(_document(_ALONE[table], row, None), request)
        for column, metric in _COLUMNS.items():
            scale = _KILOBYTES if column == "Cwnd." else 1.0
            yield _cell(table, row, column, request, runs, partial(_scaled, metric, scale))


def _pairs(table: str, request: Request) -> Iterator[Cell]:
    band, against = _PAIRS[table]
    measures: dict[str, Measure] = {
        "Flow-1": partial(throughput, 0, 1.0),
        against or "Flow-2": partial(throughput, 1, 1.0),
        SUM: partial(total, 1.0),
        JAIN: jain,
    }
    for row in _rows():
        if row != against:
            runs = _runs(_document(band, row, against or row), request)
            for column, measure in measures.items():
                yield _cell(table, row, column, request, runs, measure)


def _convergence(request: Request) -> Iterator[Cell]:
    metrics = {"t_c": ("convergence_time_l4", 1.0), "s": ("stability_l4", _KILOBYTES)}
    for row in _rows():
        for band in ("2.4", "5"):
            document = _document(band, row, None) | {"duration": _LONG, "warmup": "0 s"}
            runs = _runs(document, request)
            for column, (metric, scale) in metrics.items():
                name = f"{band}GHz {column}"
                measure = partial(_scaled, metric, scale)
                yield _cell(_CONVERGENCE, row, name, request, runs, measure)


def _simulated(request: Request) -> Iterator[Cell]:
    """Section 7.2: one station, and a server at 10 Gbit/s."""
    for row in _SETTLING:
        for band in BANDS:
            document = _document(band, row, None) | {"duration": _LONG, "warmup": "0 s"}
            document["topology"]["links"][2]["rate"] = "10 Gbit/s"
            runs = _runs(document, request)
            measure = partial(of_flow, "convergence_time_l4")
            yield _cell(SIMULATED, row, f"{band}GHz", request, runs, measure)


def _transfers(request: Request) -> Iterator[Cell]:
    size = _PRINTED_SIZE if request.full else _SIZE
    for row in _rows():
        for band in BANDS:
            document = _document(band, row, None) | {"duration": _PATIENCE, "warmup": "0 s"}
            document["flows"][0]["traffic"] = {"kind": "sized", "size": f"{size} MB"}
            repeated = _PRINTED_REPEATED if request.full else _REPEATED
            document["sweep"]["replications"] = repeated
            # All of them are one sample, of which a cell is a quantile.
            runs = [tuple(case for (case,) in replications(document, request, 600.0))]
            for name, share in QUANTILES.items():
                measure = partial(_quantile, share)
                yield _cell(TRANSFERS, row, at_quantile(band, name), request, runs, measure)


def _quantile(share: float, *outcomes: Outcome) -> float:
    goodput = [of_flow("mean_throughput_l4", outcome) or 0.0 for outcome in outcomes]
    return float(np.quantile(goodput, share))


def _cell(
    table: str,
    row: str,
    column: str,
    request: Request,
    runs: Runs,
    measure: Measure,
) -> Cell:
    # The interval is not in table 12 itself.
    source = "figure-10" if (table, column) == ("12", "Inter.") else table
    published = value(source, controls.printed_row(row), column)
    known = None if request.overrides else published
    keys = {"form": MEASURED, "table": table, "row": row, "column": column}
    return Cell(keys, known, runs, measure)


def _document(band: str, row: str, against: str | None) -> Document:
    document = scenario(f"wifi-{band}", row, against or row)
    if against is None:
        del document["flows"][1]
    return document


def _runs(document: Document, request: Request) -> Runs:
    return replications(document, request, _PRINTED)


def _scaled(metric: str, scale: float, outcome: Outcome) -> float | None:
    value = of_flow(metric, outcome)
    return None if value is None else scale * value


def _charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    from sojourn_reproductions.lin2020 import wifi_charts

    return wifi_charts.charts(rows)


_ALL = (*_ALONE, *_PAIRS, _CONVERGENCE, TRANSFERS, SIMULATED)
_SINCE = "b210479e (2026-11-22); the set-up 5b751e69 (2026-11-22), results known"
_TABLES = {table: Judged(MEASURED, _WHY, _SINCE) for table in _ALL}
WIFI = Section(
    tables=_TABLES,
    cells=_cells,
    statements=STATEMENTS,
    charts=_charts,
)
