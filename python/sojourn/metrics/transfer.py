"""A flow's transfer as a whole."""

from __future__ import annotations

import numpy as np

from sojourn.metrics.registry import Values, metric
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
    empty="null while a bounded transfer is incomplete",
    better="lower",
)
def flow_completion_time(run: RunData) -> Values:
    """From the SYN to the acknowledgment of the last byte; for an unbounded flow, its active
    time.
    """
    table = run.flow.table
    start = run.flow.start
    return np.where(
        run.flow.bounded,
        table["completed_at"].astype(float) - start,
        table["stop"].astype(float) - start,
    )


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
    packets = run.flow.total("sent_packets") + run.flow.total("acks_sent")
    ip_bytes = run.flow.total("wire_bytes_sent") + run.flow.total("ack_bytes_sent")
    return ip_bytes + ETHERNET_HEADER * packets
