"""Harm: what flows lose by the presence of others (Ware et al., 2019).

"Alone" is a further run in which only they send, made when one of these metrics is asked for: each
flow by itself, or a group's flows by themselves. A control that does no more harm to the flows of
another than those do to each other can be deployed beside them. The network's value is the mean
over the flows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np

from sojourn.metrics.columns import Values, mean, ratio
from sojourn.metrics.delay import mean_srtt
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData
from sojourn.metrics.throughput import mean_throughput

_harm = partial(
    metric,
    unit="1",
    sampling="run",
    on_request=True,
    better="lower",
    low=-inf,
    high=1.0,
)


def _flows_alone(run: RunData, compute: Callable[[RunData], Values]) -> Values:
    """Of each flow its value in the run in which it is alone."""
    values = []
    for flow in range(run.flow.count):
        single, (place,) = run.alone((flow,))
        values.append(compute(single)[place])
    return np.array(values, dtype=float)


def _groups_alone(run: RunData, compute: Callable[[RunData, list[int]], float]) -> Values:
    """Of each group its value in the run in which it is alone, NaN of a group of all flows."""
    values = []
    for place in range(len(run.group.ids)):
        flows = run.group.members(place)
        if len(flows) == run.flow.count:
            values.append(np.nan)
            continue
        apart, places = run.alone(flows)
        values.append(compute(apart, list(places)))
    return np.array(values, dtype=float)


def _throughput(run: RunData, flows: list[int]) -> float:
    return float(np.nansum(mean_throughput(run)[flows]))


def _srtt(run: RunData, flows: list[int]) -> float:
    known = np.nansum(run.flow.total("srtt_known")[flows])
    return 1e3 * float(ratio(np.nansum(run.flow.total("srtt_time")[flows]), known))


def _together(run: RunData, compute: Callable[[RunData, list[int]], float]) -> Values:
    groups = range(len(run.group.ids))
    return np.array([compute(run, list(run.group.members(place))) for place in groups])


@_harm("flow", "harm_throughput_l4", quantity="harm to throughput", aggregator="value")
def harm_throughput(run: RunData) -> Values:
    """(alone - together) / alone, of mean throughput."""
    alone = _flows_alone(run, mean_throughput)
    return ratio(alone - mean_throughput(run), alone)


@_harm("flow", "harm_delay_l4", quantity="harm to delay", aggregator="value")
def harm_delay(run: RunData) -> Values:
    """(together - alone) / together, of mean smoothed RTT."""
    together = mean_srtt(run)
    return ratio(together - _flows_alone(run, mean_srtt), together)


@_harm("net", "harm_throughput_l4", quantity="harm to throughput", aggregator="mean over flows")
def mean_harm_throughput(run: RunData) -> float:
    """Mean over the flows of their harm to throughput."""
    return float(mean(harm_throughput(run)[:, None])[0])


@_harm("net", "harm_delay_l4", quantity="harm to delay", aggregator="mean over flows")
def mean_harm_delay(run: RunData) -> float:
    """Mean over the flows of their harm to delay."""
    return float(mean(harm_delay(run)[:, None])[0])


@_harm(
    "group",
    "group_harm_throughput_l4",
    quantity="harm to throughput",
    aggregator="value",
    empty="null if all flows are in the group",
)
def group_harm_throughput(run: RunData) -> Values:
    """(alone - together) / alone, of the sum of the group's mean throughputs; alone are its flows
    without the others.
    """
    alone = _groups_alone(run, _throughput)
    return ratio(alone - _together(run, _throughput), alone)


@_harm(
    "group",
    "group_harm_delay_l4",
    quantity="harm to delay",
    aggregator="value",
    empty="null if all flows are in the group",
)
def group_harm_delay(run: RunData) -> Values:
    """(together - alone) / together, of the mean smoothed RTT of the group's flows; alone are its
    flows without the others.
    """
    together = _together(run, _srtt)
    return ratio(together - _groups_alone(run, _srtt), together)
