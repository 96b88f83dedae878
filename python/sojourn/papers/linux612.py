"""The TCP stack of Linux 6.12, measured in virtual time: simulator beside kernel.

Our own measurement, without noise: the same scenario on both, packet for packet; see
``reference/linux612/SOURCE.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial

from sojourn import data
from sojourn.papers.linux612_table import FOLDER, KEYS, METRICS, ONLY_KERNEL, TABLE, read
from sojourn.papers.linux612_table import Row as TableRow
from sojourn.papers.linux618_cells import cell_runs
from sojourn.papers.paper import Case, Cell, Outcome, Paper, Request
from sojourn.papers.statements import GOALS, Finding, Row, Statement, all_complete
from sojourn.scenario import apply_override, validated

#: How near the simulator is to come; settled before the first comparison.
GOODPUT = 0.01
SRTT = 0.02
RETRANSMISSION_FACTOR = 1.1
RETRANSMISSION_OFFSET = 3
SHARE = 0.98
#: The kernel tunes its buffers, and its window opens no faster than that lets it.
_BUFFERS = ('flows.*.receive_buffer="stack"', 'flows.*.send_buffer="stack"')
_COMPARED = ("goodput", "mean_srtt", "retrans", "completion_s")


def _cells(request: Request) -> Iterator[Cell]:
    runs = {run.key[:2]: run for run in cell_runs(FOLDER)}
    for row in _rows():
        document = deepcopy(runs[row["experiment"], row["changes"]].canonical)
        for override in (*_BUFFERS, *request.overrides):
            apply_override(document, override)
        case = Case.of(validated(document).canonical)
        for column in _COMPARED:
            if row[column]:
                measure = partial(_measure, METRICS[column][0], int(row["flow"]))
                keys = {key: row[key] for key in KEYS} | {"metric": column}
                yield Cell(keys, float(row[column]), [(case,)], measure)


def _rows() -> list[TableRow]:
    """Those of controls that the simulator has."""
    return [row for row in read(data.path(TABLE)) if row["experiment"] != ONLY_KERNEL]


def _measure(metric: str, flow: int, outcome: Outcome) -> float | None:
    value: float | None = outcome["flows"][flow]["metrics"][metric]
    return value


def met(row: Row) -> bool:
    """Whether a row of the comparison meets its goal; times of completion have goodput's."""
    kernel, measured = row["published"], row["measured"]
    if row["metric"] == "retrans":
        low, high = sorted((kernel, measured))
        return bool(high <= RETRANSMISSION_FACTOR * low + RETRANSMISSION_OFFSET)
    relative = SRTT if row["metric"] == "mean_srtt" else GOODPUT
    return abs(measured - kernel) <= relative * kernel


def _near(rows: Sequence[Row]) -> Finding:
    expected = sum(bool(row[column]) for row in _rows() for column in _COMPARED)
    cells: dict[tuple[str, ...], bool] = {}
    for row in all_complete(rows, expected):
        key = tuple(row[name] for name in KEYS)
        cells[key] = cells.get(key, True) and met(row)
    return Finding(
        sum(cells.values()) >= SHARE * len(cells), f"{sum(cells.values())} of {len(cells)}"
    )


LINUX612 = Paper(
    name="linux612",
    title="Linux 6.12 TCP in virtual time: simulator beside kernel",
    keys=(*KEYS, "metric"),
    labels=("metric",),
    tables=("grid",),
    choices=(
        "the same scenarios on both, which differ in nothing that is random",
        "buffers that are tuned as the kernel's are (receive_buffer and send_buffer = stack)",
        'stack = "linux-6", whose timers tick 1000 times per second; the kernel\'s as in its table',
    ),
    cells=_cells,
    statements=(
        Statement(
            "near",
            GOALS,
            "The simulator does as the kernel",
            f"{SHARE:.0%} of the flows: goodput and completion within {GOODPUT:.0%}, mean sRTT "
            f"within {SRTT:.0%}, retransmissions within a factor of {RETRANSMISSION_FACTOR} (plus "
            f"{RETRANSMISSION_OFFSET})",
            _near,
        ),
    ),
)
