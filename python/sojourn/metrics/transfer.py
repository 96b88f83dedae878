"""A flow's transfer as a whole."""

from __future__ import annotations

import numpy as np

from sojourn.metrics.columns import Values
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

#: Bytes of Ethernet header on every packet, as a capture on the interface counts them.
ETHERNET_HEADER = 14


@metric(
    "flow",
    "flow_completion_time_l4",
    quantity="completion time",
    unit="s",
    aggregator="value",
    sampling="flow",
    empty="null while a transfer is incomplete, and for a flow that has no last byte",
    better="lower",
)
def flow_completion_time(run: RunData) -> Values:
    """From the SYN to the acknowledgment of the last byte."""
    completed = run.flow.table["completed_at"].astype(float)
    return np.where(run.flow.bounded, completed - run.flow.start, np.nan)


@metric(
    "flow",
    "active_time_l4",
    quantity="active time",
    unit="s",
    aggregator="value",
    sampling="flow",
)
def active_time(run: RunData) -> Values:
    """From the flow's start to its stop or, if that comes first, its completion."""
    return run.flow.end - run.flow.start


@metric(
    "flow",
    "on_wire_bytes_l1",
    quantity="bytes on the wire",
    unit="bytes",
    aggregator="total",
    sampling="packet",
    empty="0",
)
def on_wire_bytes(run: RunData) -> Values:
    """Ethernet bytes that both ends sent."""
    packets = run.flow.total("sent_packets") + np.nan_to_num(run.flow.total("acks_sent"))
    ip_bytes = run.flow.total("wire_bytes_sent") + np.nan_to_num(run.flow.total("ack_bytes_sent"))
    return ip_bytes + ETHERNET_HEADER * packets
