"""Lin et al. 2020: ten congestion controls of Linux 4.9 in Mininet and over Wi-Fi.

Table 19 without its reverse traffic so far. What the paper leaves open is chosen in
``experiments/lin2020/table-19.toml``; ``docs/lin2020.md`` explains the differences.
"""

from __future__ import annotations

import copy
import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sojourn import data
from sojourn.papers import compare, lin2020_order
from sojourn.papers.lin2020_order import COLUMNS
from sojourn.papers.paper import Case, Cell, Outcome, Paper, Request
from sojourn.papers.sheet import Sheet
from sojourn.papers.statements import Row
from sojourn.scenario import Document, apply_override, read, validated
from sojourn.sweeps.expand import plan

#: The paper's names; versions where Linux 4.9 differs from what came later.
_CONTROLS: dict[str, dict[str, Any]] = {
    "CUBIC": {"cca": {"kind": "cubic", "version": "linux-4.9"}},
    "H-TCP": {"cca": "htcp"},
    "BBR": {"cca": {"kind": "bbr", "version": "linux-4.9"}},
    "Hybla": {"cca": "hybla"},
    "Veno": {"cca": {"kind": "veno", "version": "linux-4.9"}},
    "Illinois": {"cca": "illinois"},
    "Westwood+": {"cca": "westwood"},
    "YeAH": {"cca": {"kind": "yeah", "version": "linux-4.9"}},
    "Vegas": {"cca": "vegas"},
}
#: Second readings of a row.
_READINGS = {"BBR": ("BBR (fq)", {**_CONTROLS["BBR"], "host_queue": "fq"})}
_SECOND = tuple(reading for reading, _ in _READINGS.values())
_COLUMNS = {
    COLUMNS["goodput"]: "mean_throughput_l4",
    COLUMNS["RTT"]: "mean_srtt_l4",
    COLUMNS["retransmissions"]: "retransmissions_per_second_l4",
}


def _cells(request: Request) -> Iterator[Cell]:
    printed = dict(_printed())
    setups = {**_CONTROLS, **dict(_READINGS.values())}
    cases = {row: [(case,) for case in _cases(flow, request)] for row, flow in setups.items()}
    readings = {row: reading for row, (reading, _) in _READINGS.items()}
    for column, metric in _COLUMNS.items():
        for row, values in printed.items():
            published = None if request.overrides else values[column]
            for label in filter(None, (row, readings.get(row))):
                keys = {"table": "19", "row": label, "column": column}
                yield Cell(keys, published, cases[label], partial(_measure, metric))


def _sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    yield from compare.lines(LIN2020, rows)
    yield from lin2020_order.sheet(rows, _SECOND)


LIN2020 = Paper(
    name="lin2020",
    title="Lin et al. 2020: congestion controls of Linux 4.9 (Mininet)",
    keys=("table", "row", "column"),
    labels=("row",),
    tables=("19",),
    choices=(
        'stack = "linux-4.9", and the 4.9 versions of the controls that changed since',
        'access_rate = "1 Gbit/s", FIFO of 1000 packets, receive_buffer = "6 MB", no offload',
        'BBR: without fq, unpaced, as 4.9 is by default; "BBR (fq)": paced by the fq host queue',
        "RTT: the sender's smoothed RTT, as iperf3 reads it; Retr.: segments per second",
        "5 seeds; measured = their median (only BBR draws random numbers here)",
    ),
    cells=_cells,
    statements=lin2020_order.statements(_SECOND),
    sheets=_sheets,
)


def _measure(metric: str, outcome: Outcome) -> float | None:
    value: float | None = outcome["flows"][0]["metrics"][metric]
    return value


def _printed() -> Iterator[tuple[str, dict[str, float]]]:
    """Each row of the left half of the table."""
    path = data.path("reference/lin2020/table_19.csv")
    with path.open(encoding="utf-8") as file:
        for line in csv.DictReader(row for row in file if not row.startswith("#")):
            yield line["Protocols"], {column: float(line[column]) for column in _COLUMNS}


def _cases(flow: Mapping[str, Any], request: Request) -> Iterator[Case]:
    document = _document(flow)
    for override in request.overrides:
        apply_override(document, override)
    if request.quick:
        document["sweep"]["replications"] = 1
    for point in plan(validated(document)):
        yield Case.of(point.canonical)


def _document(flow: Mapping[str, Any]) -> Document:
    """The experiment's scenario with the row's flow in the place of its sweep over controls."""
    document = read(data.path("experiments/lin2020/table-19.toml"))
    del document["sweep"]["grid"]
    document["flows"][0] |= copy.deepcopy(dict(flow))
    return document
