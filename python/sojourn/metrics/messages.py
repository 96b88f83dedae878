"""Transfers of messages: goodput between first and last, error control against a deadline."""

from __future__ import annotations

import numpy as np

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData


@metric(
    "flow",
    "first_to_last_goodput_l7",
    quantity="goodput",
    unit="Mbit/s",
    aggregator="mean",
    empty="null where nothing was delivered",
    better="higher",
)
def first_to_last_goodput(run: RunData) -> Values:
    """Payload delivered over the time from its first to its last sample."""
    samples = run.flow.samples
    delivered = np.where(run.flow.active, samples["delivered_bytes"], 0.0)
    some = delivered > 0
    first = np.where(some, samples.begins[:, None], np.inf).min(axis=0)
    last = np.where(some, samples.ends[:, None], -np.inf).max(axis=0)
    return ratio(8e-6 * delivered.sum(axis=0), np.where(some.any(axis=0), last - first, 0.0))


@metric(
    "flow",
    "first_control_share_l4",
    high=1.0,
    quantity="share of packets",
    unit="1",
    aggregator="value",
    empty="null for a flow of a transport with one control",
)
def first_control_share(run: RunData) -> Values:
    """New packets that the first of a flow's controls let go."""
    return _share(run, "first_control_packets", "controlled_packets")


@metric(
    "flow",
    "error_control_efficiency_l4",
    quantity="efficiency",
    unit="1",
    aggregator="value",
    empty="null for a flow without messages",
    better="higher",
)
def error_control_efficiency(run: RunData) -> Values:
    """Usable messages over data packets received, coded ones and duplicates included."""
    return _share(run, "usable_messages", "received_packets")


@metric(
    "flow",
    "late_messages_l7",
    high=1.0,
    quantity="share of messages",
    unit="1",
    aggregator="value",
    empty="null for a flow without messages",
    better="lower",
)
def late_messages(run: RunData) -> Values:
    """Messages delivered after the stream's deadline."""
    return _share(run, "late_messages", "delivered_packets")


@metric(
    "flow",
    "p995_message_delay_l7",
    quantity="one-way delay",
    unit="ms",
    aggregator="p99.5",
    empty="null for a flow without messages",
    better="lower",
)
def p995_message_delay(run: RunData) -> Values:
    """From writing to delivery."""
    delays = run.flow.samples["delay_p995"]
    return 1e3 * delays[-1] if len(delays) else np.full(run.flow.count, np.nan)


@metric(
    "flow",
    "pure_arq_share_l4",
    high=1.0,
    quantity="share of groups",
    unit="1",
    aggregator="value",
    empty="null for a flow without adaptive error control",
)
def pure_arq_share(run: RunData) -> Values:
    """Groups of messages begun with retransmission alone."""
    return _share(run, "arq_groups", *_GROUPS)


@metric(
    "flow",
    "pure_fec_share_l4",
    high=1.0,
    quantity="share of groups",
    unit="1",
    aggregator="value",
    empty="null for a flow without adaptive error control",
)
def pure_fec_share(run: RunData) -> Values:
    """Groups of messages begun with an erasure code alone."""
    return _share(run, "fec_groups", *_GROUPS)


_GROUPS = ("arq_groups", "coded_groups", "fec_groups")


def _share(run: RunData, part: str, *whole: str) -> Values:
    together = np.sum([run.flow.total(name) for name in whole], axis=0)
    return ratio(run.flow.total(part), together)
