"""Flows together: those of one control (``cca:NAME``) and those of one label (``label:NAME``).

Only a run of several flows has groups.
"""

from __future__ import annotations

import numpy as np

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData
from sojourn.metrics.throughput import mean_throughput


@metric(
    "group",
    "flows_in_group",
    quantity="flows",
    unit="count",
    aggregator="count",
    sampling="flow",
)
def flows_in_group(run: RunData) -> Values:
    """Flows of the group."""
    return run.group.sum(np.ones(run.flow.count))


@metric(
    "group",
    "sum_throughput_l4",
    quantity="throughput",
    unit="Mbit/s",
    aggregator="sum over flows",
    better="higher",
)
def sum_throughput(run: RunData) -> Values:
    """Sum of the mean throughputs of the group's flows."""
    return run.group.sum(mean_throughput(run))


@metric(
    "group",
    "mean_flow_throughput_l4",
    quantity="throughput",
    unit="Mbit/s",
    aggregator="mean over flows",
    better="higher",
)
def mean_flow_throughput(run: RunData) -> Values:
    """Mean of the mean throughputs of the group's flows."""
    return ratio(sum_throughput(run), flows_in_group(run))


@metric(
    "group",
    "throughput_share_l4",
    high=1.0,
    quantity="share of throughput",
    unit="1",
    aggregator="ratio of totals",
)
def throughput_share(run: RunData) -> Values:
    """Payload that the group's flows delivered, over what all flows did."""
    delivered = run.flow.total("delivered_bytes")
    return ratio(run.group.sum(delivered), np.nansum(delivered))


@metric(
    "group",
    "throughput_ratio_l4",
    quantity="ratio of throughputs",
    unit="1",
    aggregator="ratio of means",
    empty="null if all flows are in the group, or if the others deliver nothing",
)
def throughput_ratio(run: RunData) -> Values:
    """Mean throughput of the group's flows over that of the flows that are not in it."""
    others = np.nansum(mean_throughput(run)) - sum_throughput(run)
    count = run.flow.count - flows_in_group(run)
    return ratio(mean_flow_throughput(run), ratio(others, count))


@metric(
    "group",
    "mean_flow_srtt_l4",
    quantity="smoothed RTT",
    unit="ms",
    aggregator="mean over flows",
    sampling="time-weighted",
    better="lower",
)
def mean_flow_srtt(run: RunData) -> Values:
    """Smoothed round-trip time of the group's flows, while it is known."""
    known = run.group.sum(run.flow.total("srtt_known"))
    return 1e3 * ratio(run.group.sum(run.flow.total("srtt_time")), known)


@metric(
    "group",
    "sum_retransmissions_l4",
    quantity="retransmissions",
    unit="count",
    aggregator="sum over flows",
    sampling="event",
    empty="0; null if all are UDP",
    better="lower",
)
def sum_retransmissions(run: RunData) -> Values:
    """Segments that the group's flows retransmitted."""
    total = run.group.sum(run.flow.total("retransmissions"))
    return np.where(run.group.sum(run.flow.has("retransmissions").astype(float)) > 0, total, np.nan)
