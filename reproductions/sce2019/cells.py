"""The draft's cells and the runs that measure them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from sojourn import data
from sojourn.campaign.cases import Case, Outcome
from sojourn.errors import ScenarioError
from sojourn.reproduction.paper import Cell, Request
from sojourn.scenario import Document, apply_override, read, validated
from sojourn_reproductions.sce2019 import tables
from sojourn_reproductions.sce2019.tables import TABLES, Table, published

#: What --quick keeps: bandwidths (Mbit/s) and delays (ms).
QUICK_BANDWIDTHS = ("1", "5", "10")
QUICK_DELAYS = ("0", "10", "80")
#: Cake's options in each mode.
_CAKE = {
    tables.ONE_FLOW: {"isolation": "triple-isolate", "sce": "sce"},
    "flowblind": {"isolation": "flowblind", "sce": "sce"},
    "flowblind sce-single": {"isolation": "flowblind", "sce": "sce-single"},
    "triple-isolate": {"isolation": "triple-isolate", "sce": "sce"},
}
#: Versions of the controls.
_CCA: dict[str, Any] = {
    "dctcp": {"kind": "dctcp", "version": "linux-5.1"},
    "reno-sce": {"kind": "reno-sce", "threshold": "follow"},
    "dctcp-sce": {"kind": "dctcp-sce", "threshold": "follow"},
}
#: Latency of hosts and links besides netem's, ms; inferred, see the card.
_TESTBED = 1
#: Receivers of DCTCP run DCTCP, as flent sets the control at both ends.
_ECN = {"dctcp": "dctcp-sce"}
#: Threshold of slow start that the hosts remembered, segments; see the card.
_REMEMBERED_SSTHRESH = 7
_FILES = {1: "experiments/sce2019/one-flow.toml", 2: "experiments/sce2019/two-flow.toml"}
_METRICS = {
    tables.THROUGHPUT: "mean_throughput_l4",
    tables.RTT: "mean_srtt_l4",
    tables.FILLED: "filling_time_l4",
}
_DIFFERENCES = {
    tables.THROUGHPUT_DIFFERENCE: tables.THROUGHPUT,
    tables.RTT_DIFFERENCE: tables.RTT,
}


def cells(request: Request) -> Iterator[Cell]:
    """The cells of the requested tables."""
    for number, table in TABLES.items():
        if not request.tables or number in request.tables:
            yield from _of_table(table, request)


def _of_table(table: Table, request: Request) -> Iterator[Cell]:
    for bandwidth in table.grid[0]:
        for delay in table.grid[1]:
            if request.quick and not _is_quick(bandwidth, delay):
                continue
            cases = _cases(table, bandwidth, delay, request)
            for flow in table.flows:
                place = (table.number, flow, bandwidth, delay)
                values = (table.number, table.mode, table.metric, table.flow1, table.flow2)
                keys = dict(zip(tables.KEYS, (*values, flow, bandwidth, delay), strict=True))
                printed = None if request.overrides else published().get(place)
                yield Cell(
                    keys,
                    None if printed is None else float(printed),
                    [cases],
                    _measure(table, flow, float(bandwidth)),
                )


def _is_quick(bandwidth: str, delay: str) -> bool:
    return bandwidth in QUICK_BANDWIDTHS and delay in QUICK_DELAYS


def _measure(table: Table, flow: str, bandwidth: float) -> Callable[..., float | None]:
    if table.is_raw:
        return partial(_value, table.metric, int(flow) - 1)
    if table.metric == tables.JAIN:
        return _jain
    if table.metric == tables.FILLED:
        return partial(_value, table.metric, 0)
    scale = bandwidth if table.metric == tables.THROUGHPUT_DIFFERENCE else 1.0
    return partial(_difference, _DIFFERENCES[table.metric], scale)


def _value(metric: str, flow: int, outcome: Outcome) -> float | None:
    return outcome["flows"][flow]["metrics"][_METRICS[metric]]


def _difference(metric: str, scale: float, *outcomes: Outcome) -> float | None:
    """The first one's less the second one's."""
    first, second = (_value(metric, 0, outcome) for outcome in outcomes)
    return None if first is None or second is None else (first - second) / scale


def _jain(outcome: Outcome) -> float:
    rates = np.array([_value(tables.THROUGHPUT, flow, outcome) for flow in range(2)], dtype=float)
    return float(rates.sum() ** 2 / (2 * (rates**2).sum()))


def _cases(table: Table, bandwidth: str, delay: str, request: Request) -> tuple[Case, ...]:
    runs = (
        [(table.flow1,), (table.flow2,)]
        if table.is_difference
        else [tuple(filter(None, (table.flow1, table.flow2)))]
    )
    return tuple(_case(table.mode, controls, bandwidth, delay, request) for controls in runs)


def _case(
    mode: str, controls: tuple[str, ...], bandwidth: str, delay: str, request: Request
) -> Case:
    document = scenario(mode, controls, bandwidth, delay)
    for override in request.overrides:
        apply_override(document, override)
    return Case.of(validated(document).canonical)


def scenario(mode: str, controls: tuple[str, ...], bandwidth: str, delay: str) -> Document:
    """The scenario of a cell."""
    if len(controls) not in (1, 2):
        raise ScenarioError(f"{controls}: the draft has runs of one flow and of two")
    document = read(data.path(_FILES[len(controls)]))
    document["duration"] = f"{tables.run_lengths()[bandwidth, delay]} s"
    for link in ("bottleneck", "reverse"):
        document["topology"][link]["rate"] = f"{bandwidth} Mbit/s"
        document["topology"][link]["queue"] = {"kind": "cake", **_CAKE[mode]}
    document["flows"] = [
        {
            # Its own: what --set sets in one flow is not in another.
            "cca": copy.deepcopy(_CCA.get(c, c)),
            "ecn": _ECN.get(c, "sce"),
            "rtt": f"{int(delay) + _TESTBED} ms",
            "initial_ssthresh": _REMEMBERED_SSTHRESH,
        }
        for c in controls
    ]
    return document
