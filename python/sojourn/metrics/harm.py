"""Harm: what each flow loses by not being alone (Ware et al., 2019).

"Alone" is a second run with that flow only, made when one of these metrics is asked for. The
network's value is the mean over the flows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.metrics.columns import mean, ratio
from sojourn.metrics.delay import mean_srtt
from sojourn.metrics.registry import Values, metric
from sojourn.metrics.samples import RunData
from sojourn.metrics.throughput import mean_throughput


def _alone(run: RunData, compute: Callable[[RunData], Values]) -> Values:
    return np.array([compute(single)[0] for single in run.alone()], dtype=float)


@metric(
    "flow",
    "harm_throughput_l4",
    quantity="harm to throughput",
    unit="1",
    aggregator="value",
    sampling="run",
    on_request=True,
    better="lower",
)
def harm_throughput(run: RunData) -> Values:
    """(alone - together) / alone, of mean throughput."""
    alone = _alone(run, mean_throughput)
    return ratio(alone - mean_throughput(run), alone)


@metric(
    "flow",
    "harm_delay_l4",
    quantity="harm to delay",
    unit="1",
    aggregator="value",
    sampling="run",
    on_request=True,
    better="lower",
)
def harm_delay(run: RunData) -> Values:
    """(together - alone) / together, of mean smoothed RTT."""
    together = mean_srtt(run)
    return ratio(together - _alone(run, mean_srtt), together)


@metric(
    "net",
    "harm_throughput_l4",
    quantity="harm to throughput",
    unit="1",
    aggregator="mean over flows",
    sampling="run",
    on_request=True,
    better="lower",
)
def mean_harm_throughput(run: RunData) -> float:
    """Mean over the flows of their harm to throughput."""
    return float(mean(harm_throughput(run)[:, None])[0])


@metric(
    "net",
    "harm_delay_l4",
    quantity="harm to delay",
    unit="1",
    aggregator="mean over flows",
    sampling="run",
    on_request=True,
    better="lower",
)
def mean_harm_delay(run: RunData) -> float:
    """Mean over the flows of their harm to delay."""
    return float(mean(harm_delay(run)[:, None])[0])
