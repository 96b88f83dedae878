"""Losses and what they cost."""

from __future__ import annotations

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

_NONE = "0; null for UDP, which retransmits nothing"


@metric(
    "flow",
    "mean_recovery_time_l4",
    quantity="loss-recovery time",
    unit="ms",
    aggregator="mean",
    sampling="recovery episode",
    better="lower",
)
def mean_recovery_time(run: RunData) -> Values:
    """Duration of a loss-recovery episode."""
    return 1e3 * ratio(run.flow.total("recovery_time"), run.flow.total("recoveries"))


@metric(
    "flow",
    "total_retransmissions_l4",
    quantity="retransmissions",
    unit="count",
    aggregator="total",
    sampling="event",
    empty=_NONE,
    better="lower",
)
def total_retransmissions(run: RunData) -> Values:
    """Segments retransmitted."""
    return run.flow.total("retransmissions")


@metric(
    "flow",
    "total_rtos_l4",
    quantity="retransmission timeouts",
    unit="count",
    aggregator="total",
    sampling="event",
    empty=_NONE,
    better="lower",
)
def total_rtos(run: RunData) -> Values:
    """Retransmission timeouts."""
    return run.flow.total("rtos")


@metric(
    "flow",
    "total_spurious_retransmissions_l4",
    quantity="spurious retransmissions",
    unit="count",
    aggregator="total",
    sampling="event",
    empty=_NONE,
    better="lower",
)
def total_spurious_retransmissions(run: RunData) -> Values:
    """Retransmissions that the receiver reported as unnecessary (DSACK)."""
    return run.flow.total("spurious_retransmissions")


@metric(
    "flow",
    "retransmissions_per_second_l4",
    quantity="retransmissions",
    unit="1/s",
    aggregator="ratio of totals",
    sampling="event",
    better="lower",
)
def retransmissions_per_second(run: RunData) -> Values:
    """Segments retransmitted per second of the flow's active time."""
    return ratio(total_retransmissions(run), run.flow.active_time)


@metric(
    "flow",
    "retransmissions_per_packet_sent_l4",
    high=1.0,
    quantity="retransmissions",
    unit="1",
    aggregator="ratio of totals",
    sampling="event",
    better="lower",
)
def retransmissions_per_packet_sent(run: RunData) -> Values:
    """Segments retransmitted per data packet sent."""
    return ratio(total_retransmissions(run), run.flow.total("sent_packets"))


@metric(
    "flow",
    "retransmissions_per_packet_lost_l4",
    quantity="retransmissions",
    unit="1",
    aggregator="ratio of totals",
    sampling="event",
    empty="null if nothing was lost",
)
def retransmissions_per_packet_lost(run: RunData) -> Values:
    """Segments retransmitted per segment that the sender marked lost."""
    return ratio(total_retransmissions(run), run.flow.total("lost"))
