"""How much a flow carries."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from sojourn.metrics.columns import Values, deviation, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData


@metric(
    "flow",
    "mean_throughput_l4",
    quantity="throughput",
    unit="Mbit/s",
    aggregator="mean",
    better="higher",
)
def mean_throughput(run: RunData) -> Values:
    """Unique payload delivered to the receiving transport."""
    return run.flow.mean_rate("delivered_bytes")


@metric(
    "flow",
    "cov_throughput_l4",
    quantity="throughput",
    unit="1",
    aggregator="coefficient of variation",
    better="lower",
)
def cov_throughput(run: RunData) -> Values:
    """Standard deviation of throughput over samples, divided by its mean."""
    return ratio(deviation(run.flow.throughput), mean(run.flow.throughput))


@metric(
    "flow",
    "mean_throughput_l7",
    quantity="throughput",
    unit="Mbit/s",
    aggregator="mean",
    better="higher",
)
def mean_throughput_l7(run: RunData) -> Values:
    """Payload delivered in order to the application."""
    return run.flow.mean_rate("in_order_bytes")


@metric("flow", "mean_sending_rate_l4", quantity="sending rate", unit="Mbit/s", aggregator="mean")
def mean_sending_rate(run: RunData) -> Values:
    """Payload sent, retransmissions included."""
    return run.flow.mean_rate("sent_bytes")


@metric("flow", "mean_sending_rate_l7", quantity="sending rate", unit="Mbit/s", aggregator="mean")
def mean_sending_rate_l7(run: RunData) -> Values:
    """Payload accepted from the application; it fills the send buffer at once."""
    return run.flow.mean_rate("written_bytes")


@metric(
    "flow",
    "mean_delivery_rate_l4",
    quantity="delivery rate",
    unit="Mbit/s",
    aggregator="mean",
    better="higher",
)
def mean_delivery_rate(run: RunData) -> Values:
    """The sender's delivery-rate estimate: mean of its samples in an interval, then over
    intervals.
    """
    view = run.flow
    estimates = ratio(view.samples["delivery_rate_sum"], view.samples["delivery_rate_count"])
    return mean(view.where_regular(estimates)) / 1e6


@metric(
    "flow",
    "bottleneck_share_l4",
    high=1.0,
    quantity="share of the bottleneck",
    unit="1",
    aggregator="ratio of totals",
)
def bottleneck_share(run: RunData) -> Values:
    """Payload delivered, over what all flows through the flow's bottleneck (the slowest link on its
    way) delivered while it was active.
    """
    view = run.flow
    delivered, active = view.counted("delivered_bytes"), view.active
    through: dict[int, list[int]] = defaultdict(list)
    for flow, path in enumerate(run.network["paths"]):
        for link in path:
            through[link].append(flow)
    together = np.full(view.count, np.nan)
    for link, flows in through.items():
        mine = [flow for flow in flows if view.bottlenecks[flow] == link]
        together[mine] = delivered[:, flows].sum(axis=1) @ active[:, mine]
    return ratio(delivered.sum(axis=0), together)


@metric(
    "flow",
    "mean_utilization_bw_l4",
    quantity="utilization of the bottleneck rate",
    unit="1",
    aggregator="mean",
    better="higher",
)
def mean_utilization_bw(run: RunData) -> Values:
    """Throughput divided by the rate of the slowest link on the flow's way."""
    return run.flow.mean_rate("delivered_bytes") * 1e6 / run.flow.bottleneck_rate
