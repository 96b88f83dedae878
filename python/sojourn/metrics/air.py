"""Channels of shared media and what comes back over them; null for links with a transmitter."""

from __future__ import annotations

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import Better, Compute, metric
from sojourn.metrics.samples import RunData


@metric("link", "airtime_l1", high=1.0, quantity="airtime", unit="1", aggregator="mean")
def airtime(run: RunData) -> Values:
    """Share of time for which the channel's frames hold the medium, answers and collisions
    included.
    """
    return ratio(run.link.total("airtime"), run.link.time)


def _share(name: str, quantity: str, summary: str, part: str, of: str, better: Better) -> None:
    def compute(run: RunData) -> Values:
        return ratio(run.link.total(part), run.link.total(of))

    compute.__doc__ = summary
    _register(name, quantity, "1", compute, better)


def _register(name: str, quantity: str, unit: str, compute: Compute, better: Better) -> None:
    metric(
        "link",
        name,
        quantity=quantity,
        unit=unit,
        aggregator="mean",
        sampling="event",
        better=better,
    )(compute)


_share("collision_rate_l1", "collisions", "Share of frames that collide.",
       "collisions", "attempts", "lower")  # fmt: skip
_share("mean_aggregate_size_l1", "aggregation", "MPDUs in a frame.",
       "mpdus", "attempts", None)  # fmt: skip
_share("retry_rate_l1", "retries", "Share of MPDUs that are sent once more.",
       "retries", "mpdus", "lower")  # fmt: skip
_share("failure_rate_l1", "failures", "Share of frames of which nothing arrives.",
       "failed", "attempts", "lower")  # fmt: skip


@metric("link", "frame_rate_l1", quantity="frames", unit="1/s", aggregator="mean")
def frame_rate(run: RunData) -> Values:
    """Frames put on the air per second."""
    return ratio(run.link.total("attempts"), run.link.time)


@metric("flow", "ack_block_rate_l4", quantity="ACK blocks", unit="1/s", aggregator="mean")
def ack_block_rate(run: RunData) -> Values:
    """Blocks of acknowledgments that come to the sender per second; between two, it sends data."""
    return ratio(run.flow.total("ack_blocks"), run.flow.active_time)


@metric("flow", "acks_per_block_l4", quantity="ACK blocks", unit="packets", aggregator="mean")
def acks_per_block(run: RunData) -> Values:
    """Acknowledgments in a block."""
    return ratio(run.flow.total("acks_received"), run.flow.total("ack_blocks"))


@metric("flow", "mean_send_interval_l4", quantity="send interval", unit="ms", aggregator="mean")
def mean_send_interval(run: RunData) -> Values:
    """Time between two data packets without an acknowledgment between them."""
    return 1e3 * ratio(run.flow.total("send_gap_sum"), run.flow.total("send_gap_count"))
