"""Section 6: laptops that send over Wi-Fi, 2.4 GHz (802.11n) and 5 GHz (802.11ac), tables 12-18.

The set-up of each band is ``experiments/lin2020/wifi-BAND.toml``, whose parameters follow from
Cubic's goodput and RTT alone. Table 13 has no values at hand; it is run all
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sojourn.papers.lin2020 import controls
from sojourn.papers.lin2020.pairs import JAIN, SUM, jain, throughput, total
from sojourn.papers.lin2020.printed import printed
from sojourn.papers.lin2020.runs import Measure, Runs, of_flow, replications, scenario
from sojourn.papers.lin2020.section import MEASURED, Judged, Section
from sojourn.papers.lin2020.wifi_goals import STATEMENTS
from sojourn.papers.paper import Cell, Outcome, Request
from sojourn.scenario import Document

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
#: What table 18 takes, s: a moving average over 30 s needs more than the other tables.
_LONG = "120 s"
_WHY = "the air and the adapters are modelled; their parameters follow from Cubic's row"


def _rows() -> Iterator[str]:
    return (reading for row in _ROWS for reading in controls.readings(row))


def _cells(table: str, request: Request) -> Iterator[Cell]:
    if table in _ALONE:
        return _alone(table, request)
    return _convergence(request) if table == _CONVERGENCE else _pairs(table, request)


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


def _cell(
    table: str,
    row: str,
    column: str,
    request: Request,
    runs: Runs,
    measure: Measure,
) -> Cell:
    values: Mapping[str, float] = printed(table).get(row.removesuffix(" (fq)"), {})
    known = None if request.overrides else values.get(column)
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


_TABLES = {table: Judged(MEASURED, _WHY) for table in (*_ALONE, *_PAIRS, _CONVERGENCE)}
WIFI = Section(
    tables=_TABLES,
    cells=_cells,
    statements=STATEMENTS,
    choices=(
        "tables 12-18: uplink; one set-up per band, by Cubic's goodput and RTT alone;",
        "30 s, table 18: 120 s; windows in KB, judged by ratios between controls",
    ),
)
