"""How long data takes."""

from __future__ import annotations

from math import inf

import numpy as np

from sojourn.metrics.columns import Values, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData


@metric(
    "flow",
    "mean_srtt_l4",
    quantity="smoothed RTT",
    unit="ms",
    aggregator="mean",
    sampling="time-weighted",
    better="lower",
)
def mean_srtt(run: RunData) -> Values:
    """The sender's smoothed round-trip time, while it is known."""
    return 1e3 * ratio(run.flow.total("srtt_time"), run.flow.total("srtt_known"))


@metric(
    "flow",
    "mean_rtt_l4",
    quantity="RTT",
    unit="ms",
    aggregator="mean",
    sampling="RTT sample",
    better="lower",
)
def mean_rtt(run: RunData) -> Values:
    """The sender's RTT samples."""
    return 1e3 * ratio(run.flow.total("rtt_sum"), run.flow.total("rtt_count"))


@metric(
    "flow",
    "p50_rtt_l4",
    quantity="RTT",
    unit="ms",
    aggregator="median",
    sampling="RTT sample",
    better="lower",
)
def p50_rtt(run: RunData) -> Values:
    """Median of the sender's RTT samples after the warm-up."""
    return 1e3 * np.asarray(run.flow.table["rtt_p50"], dtype=float)


@metric(
    "flow",
    "p95_rtt_l4",
    quantity="RTT",
    unit="ms",
    aggregator="95th percentile",
    sampling="RTT sample",
    better="lower",
)
def p95_rtt(run: RunData) -> Values:
    """95th percentile of the sender's RTT samples after the warm-up."""
    return 1e3 * np.asarray(run.flow.table["rtt_p95"], dtype=float)


@metric(
    "flow",
    "mean_est_qdelay_l4",
    low=-inf,
    quantity="estimated queueing delay",
    unit="ms",
    aggregator="mean",
    sampling="time-weighted",
    better="lower",
)
def mean_est_qdelay(run: RunData) -> Values:
    """Smoothed RTT less the configured base RTT; less than zero, by the base RTT at most, where
    jitter has shortened the way.
    """
    return mean_srtt(run) - 1e3 * run.flow.base_rtt


@metric(
    "flow",
    "mean_one_way_delay_l7",
    quantity="one-way delay",
    unit="ms",
    aggregator="mean",
    sampling="segment",
    better="lower",
)
def mean_one_way_delay(run: RunData) -> Values:
    """From the application's write to delivery in order, residence in the send buffer included."""
    return 1e3 * ratio(run.flow.total("one_way_delay_sum"), run.flow.total("one_way_delay_count"))


@metric(
    "flow",
    "mean_idt_ewma_l4",
    quantity="inter-delivery time",
    unit="ms",
    aggregator="mean",
    better="lower",
)
def mean_idt_ewma(run: RunData) -> Values:
    """Smoothed time between arrivals of data, as it stands at the end of each sample."""
    return 1e3 * mean(run.flow.where_regular(run.flow.samples["idt_ewma"]))
