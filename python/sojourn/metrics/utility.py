"""What a flow's throughput and delay are worth: means over samples of non-linear functions."""

from __future__ import annotations

from math import inf

import numpy as np

from sojourn.metrics.columns import Values, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

_SKIPPED = "samples without delivery left out and counted in empty_samples; null if none is left"


@metric(
    "flow",
    "mean_network_power_l4",
    quantity="network power",
    unit="Mbit/s^2",
    aggregator="mean",
    better="higher",
)
def mean_network_power(run: RunData) -> Values:
    """Throughput in Mbit/s divided by smoothed RTT in seconds, per sample."""
    return mean(ratio(run.flow.throughput, run.flow.srtt))


@metric(
    "flow",
    "mean_utility_pf_l4",
    low=-inf,
    quantity="proportionally fair utility",
    unit="ln(Mbit/s)",
    aggregator="mean",
    empty=_SKIPPED,
    better="higher",
)
def mean_utility_pf(run: RunData) -> Values:
    """Natural logarithm of throughput in Mbit/s, per sample."""
    return mean(np.log(run.flow.positive_throughput))


@metric(
    "flow",
    "mean_utility_mpdf_l4",
    low=-inf,
    quantity="minimum-potential-delay-fair utility",
    unit="s/Mbit",
    aggregator="mean",
    empty=_SKIPPED,
    better="higher",
)
def mean_utility_mpdf(run: RunData) -> Values:
    """-1 / throughput in Mbit/s, per sample."""
    return mean(-1.0 / run.flow.positive_throughput)


@metric(
    "flow",
    "empty_samples",
    quantity="samples without delivery",
    unit="count",
    aggregator="count",
    empty="0",
    better="lower",
)
def empty_samples(run: RunData) -> Values:
    """Samples in which the flow delivered nothing."""
    return (run.flow.throughput == 0).sum(axis=0).astype(float)
