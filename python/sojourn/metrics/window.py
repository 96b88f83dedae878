"""How much a flow keeps in the network."""

from __future__ import annotations

from sojourn.metrics.columns import Values, deviation, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

_TIME = "time-weighted"
_UDP = "null for UDP, which has no window"


@metric(
    "flow",
    "mean_cwnd_l4",
    quantity="cwnd",
    unit="segments",
    aggregator="mean",
    sampling=_TIME,
    empty=_UDP,
)
def mean_cwnd(run: RunData) -> Values:
    """Congestion window."""
    return ratio(run.flow.total("cwnd_time"), run.flow.active_time)


@metric(
    "flow",
    "mean_in_flight_l4",
    quantity="in flight",
    unit="segments",
    aggregator="mean",
    sampling=_TIME,
    empty=_UDP,
)
def mean_in_flight(run: RunData) -> Values:
    """Segments sent and neither acknowledged nor known to be lost."""
    return ratio(run.flow.total("in_flight_time"), run.flow.active_time)


@metric(
    "flow",
    "cov_in_flight_l4",
    quantity="in flight",
    unit="1",
    aggregator="coefficient of variation",
    empty=_UDP,
    better="lower",
)
def cov_in_flight(run: RunData) -> Values:
    """Standard deviation over samples of the segments in flight, divided by their mean."""
    samples = run.flow.where_regular(ratio(run.flow.samples["in_flight_time"], run.flow.span))
    return ratio(deviation(samples), mean(samples))


@metric(
    "flow",
    "mean_utilization_bdp_l4",
    quantity="utilization of the bandwidth-delay product",
    unit="1",
    aggregator="mean",
    sampling=_TIME,
    empty=_UDP,
)
def mean_utilization_bdp(run: RunData) -> Values:
    """Segments in flight divided by bottleneck rate x base RTT in full-sized packets."""
    return ratio(mean_in_flight(run), run.flow.bdp)


@metric(
    "flow",
    "mean_utilization_bdp_goodput_l4",
    quantity="utilization of the bandwidth-delay product",
    unit="1",
    aggregator="mean",
    sampling=_TIME,
    empty=_UDP,
)
def mean_utilization_bdp_goodput(run: RunData) -> Values:
    """CCPerf's reading: the product is of the bottleneck's payload rate (rate x payload / packet)
    and base RTT, in packets on the wire.
    """
    return ratio(mean_in_flight(run), run.flow.bdp_goodput)
