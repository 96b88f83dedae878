"""Sums over the flows per sample, then the mean.

The network's samples are those in which any flow is active; an aggregate rate divides by the
time during which one was.
"""

from __future__ import annotations

from math import inf

import numpy as np

from sojourn.metrics.columns import Values, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

_SKIPPED = "samples in which an active flow delivered nothing left out; null if none is left"


def _time(run: RunData) -> float:
    """Seconds during which any flow was active."""
    return float(run.flow.span.max(axis=1).sum()) if run.flow.count else 0.0


def _mean_of_sum(run: RunData, column: str, weights: Values | float = 1.0) -> float:
    """Mean over time of the weighted sum of an integral or counter over the flows that have it."""
    has = run.flow.has(column)
    if not has.any():
        return np.nan
    return float(ratio((run.flow.total(column) * weights)[has].sum(), _time(run)))


def _sum_of_utility(run: RunData, utility: Values) -> float:
    """Mean over samples of the sum over active flows; a flow without delivery spoils a sample."""
    regular = run.flow.regular
    complete = regular.any(axis=1) & ~(regular & np.isnan(utility)).any(axis=1)
    return float(mean(np.nansum(utility[complete], axis=1)[:, None])[0])


@metric(
    "net",
    "mean_agg_throughput_l4",
    quantity="throughput",
    unit="Mbit/s",
    aggregator="mean of sum",
    better="higher",
)
def mean_agg_throughput(run: RunData) -> float:
    """Unique payload delivered by all flows together."""
    return _mean_of_sum(run, "delivered_bytes", 8e-6)


@metric(
    "net",
    "mean_flow_srtt_l4",
    quantity="smoothed RTT",
    unit="ms",
    aggregator="mean over flows",
    sampling="time-weighted",
    better="lower",
)
def mean_flow_srtt(run: RunData) -> float:
    """Smoothed round-trip time of all flows, while it is known."""
    known = np.nansum(run.flow.total("srtt_known"))
    return 1e3 * float(ratio(np.nansum(run.flow.total("srtt_time")), known))


@metric(
    "net",
    "mean_agg_in_flight_l4",
    quantity="in flight",
    unit="segments",
    aggregator="mean of sum",
    sampling="time-weighted",
)
def mean_agg_in_flight(run: RunData) -> float:
    """Segments in flight of all flows together."""
    return _mean_of_sum(run, "in_flight_time")


@metric(
    "net",
    "mean_agg_utilization_bw_l4",
    quantity="utilization of the bottleneck rate",
    unit="1",
    aggregator="mean of sum",
    better="higher",
)
def mean_agg_utilization_bw(run: RunData) -> float:
    """Sum of the flows' throughputs, each divided by the rate of its bottleneck."""
    return _mean_of_sum(run, "delivered_bytes", 8.0 / run.flow.bottleneck_rate)


@metric(
    "net",
    "mean_agg_utilization_bdp_l4",
    quantity="utilization of the bandwidth-delay product",
    unit="1",
    aggregator="mean of sum",
    sampling="time-weighted",
)
def mean_agg_utilization_bdp(run: RunData) -> float:
    """Sum of the flows' segments in flight, each divided by its bandwidth-delay product."""
    return _mean_of_sum(run, "in_flight_time", ratio(1.0, run.flow.bdp))


@metric(
    "net",
    "mean_agg_utilization_bdp_goodput_l4",
    quantity="utilization of the bandwidth-delay product",
    unit="1",
    aggregator="mean of sum",
    sampling="time-weighted",
)
def mean_agg_utilization_bdp_goodput(run: RunData) -> float:
    """The same with the product of mean_utilization_bdp_goodput_l4."""
    return _mean_of_sum(run, "in_flight_time", ratio(1.0, run.flow.bdp_goodput))


@metric(
    "net",
    "mean_agg_utility_pf_l4",
    low=-inf,
    quantity="proportionally fair utility",
    unit="ln(Mbit/s)",
    aggregator="mean of sum",
    empty=_SKIPPED,
    better="higher",
)
def mean_agg_utility_pf(run: RunData) -> float:
    """Sum over flows of the natural logarithm of throughput in Mbit/s, per sample."""
    return _sum_of_utility(run, np.log(run.flow.positive_throughput))


@metric(
    "net",
    "mean_agg_utility_mpdf_l4",
    low=-inf,
    quantity="minimum-potential-delay-fair utility",
    unit="s/Mbit",
    aggregator="mean of sum",
    empty=_SKIPPED,
    better="higher",
)
def mean_agg_utility_mpdf(run: RunData) -> float:
    """Sum over flows of -1 / throughput in Mbit/s, per sample."""
    return _sum_of_utility(run, -1.0 / run.flow.positive_throughput)


@metric(
    "net",
    "empty_samples",
    quantity="samples without delivery",
    unit="count",
    aggregator="count",
    empty="0",
    better="lower",
)
def empty_samples(run: RunData) -> float:
    """Samples in which an active flow delivered nothing."""
    return float((run.flow.throughput == 0).any(axis=1).sum())
