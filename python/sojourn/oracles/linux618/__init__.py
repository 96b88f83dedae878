"""The TCP stack of Linux 6.18, measured: simulator beside kernel.

Not a paper but our own measurement of real flows through an exact bottleneck; see
``reference/linux618/SOURCE.md``. The published value of a cell is the mean over its repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

from sojourn.campaign.cases import Case, Outcome
from sojourn.oracles.linux618 import sheets
from sojourn.oracles.linux618.cells import cell_runs
from sojourn.oracles.linux618.goals import STATEMENTS
from sojourn.oracles.linux618.kernel import KEYS, LIVE_METRICS, METRICS, SETUP, kernel, live
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.scenario import Document, apply_override, validated
from sojourn.sweeps.expand import plan

TABLES = ("grid", "live")
_REPLICATIONS = 10
_QUICK_REPLICATIONS = 3


def _cells(request: Request) -> Iterator[Cell]:
    if "grid" in (request.tables or TABLES):
        yield from _grid(request)
    if "live" in (request.tables or TABLES):
        yield from _live(request)


def _grid(request: Request) -> Iterator[Cell]:
    cases: dict[tuple[str, ...], list[tuple[Case, ...]]] = {}
    for key, values in kernel().items():
        setup = key[: len(SETUP)]
        if setup not in cases:
            cases[setup] = [(case,) for case in _cases(setup, request)]
        keys = dict(zip(KEYS, key, strict=True))
        for column, spread in values.items():
            measure = partial(_measure, METRICS[column], int(keys["flow"]))
            yield Cell({**keys, "metric": column}, spread.mean, cases[setup], measure)


def _live(request: Request) -> Iterator[Cell]:
    """The experiments that were measured later: their own repetitions, simulated."""
    cases: dict[tuple[str, str], list[tuple[Case, ...]]] = {}
    for run in cell_runs():
        document = deepcopy(run.canonical)
        for override in request.overrides:
            apply_override(document, override)
        case = Case.of(validated(document).canonical if request.overrides else document)
        cases.setdefault(run.key[:2], []).append((case,))
    firsts = {experiment: (experiment, changes) for experiment, changes in reversed(cases)}
    for key, values in live().items():
        keys = dict(zip(KEYS, key, strict=True))
        cell = (keys["experiment"], keys["changes"])
        if request.quick and cell != firsts[cell[0]]:
            continue
        runs = cases[cell][: 1 if request.quick else None]
        for column, spread in values.items():
            measure = partial(_measure, LIVE_METRICS[column], int(keys["flow"]))
            yield Cell({**keys, "metric": column}, spread.mean, runs, measure)


def _measure(metric: str, flow: int, outcome: Outcome) -> float | None:
    value: float | None = outcome["flows"][flow]["metrics"][metric]
    return value


def _cases(setup: tuple[str, ...], request: Request) -> Iterator[Case]:
    document = scenario(dict(zip(SETUP, setup, strict=True)))
    for override in request.overrides:
        apply_override(document, override)
    if request.quick:
        document["sweep"]["replications"] = _QUICK_REPLICATIONS
    for point in plan(validated(document)):
        yield Case.of(point.canonical)


def scenario(setup: Mapping[str, str]) -> Document:
    """The scenario of a cell."""
    controls = setup["flows"].split(",")
    bottleneck: dict[str, Any] = {
        "rate": f"{setup['rate_mbit']} Mbit/s",
        "queue": {"kind": "fifo", "limit": f"{setup['buffer_packets']} packets"},
        "overhead": "0 B",
        "loss": f"{float(setup['loss']) * 100:g} %",
    }
    return {
        "name": "linux-6.18",
        "duration": f"{setup['duration_s']} s",
        "stack": "linux-6",
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "flows": [
            {
                "cca": cca,
                "rtt": f"{setup['rtt_ms']} ms",
                "start": f"{100 * index} us",
            }
            for index, cca in enumerate(controls)
        ],
        # Several packet times: much less, and every seed takes the same course.
        "sweep": {"replications": _REPLICATIONS, "start_jitter": "1 ms"},
    }


LINUX618 = Paper(
    name="linux618",
    title="Linux 6.18 TCP through an exact bottleneck: simulator beside kernel",
    keys=(*KEYS, "metric"),
    labels=("metric",),
    tables=TABLES,
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=_cells,
    statements=STATEMENTS,
    sheets=sheets.sheets,
)
