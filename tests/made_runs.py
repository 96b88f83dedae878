"""Runs made by hand, on columns small enough to compute on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.metrics import RunData, compute
from sojourn.metrics.limits import LIMITS

MSS = 1448
#: What a transport without window, feedback and retransmissions does not report.
WITHOUT_WINDOW = {
    *("acks_sent", "ack_bytes_sent", "retransmissions", "spurious_retransmissions", "rtos"),
    *("probe_retransmissions", "lost", "recoveries", "recovery_time", "cwnd_time"),
    *("in_flight_time", "srtt_time", "srtt_known", "rtt_sum", "rtt_count"),
    *("delivery_rate_sum", "delivery_rate_count", *(f"limited_by_{limit}" for limit in LIMITS)),
}
#: What a flow reports besides what it has delivered.
_COLUMNS = (
    *WITHOUT_WINDOW,
    *("in_order_bytes", "sent_bytes", "written_bytes", "wire_bytes_sent", "sent_packets"),
    *("delivered_packets", "one_way_delay_sum", "one_way_delay_count", "idt_ewma"),
    *("first_control_packets", "controlled_packets", "usable_messages", "received_packets"),
    *("late_messages", "delay_p995", "arq_groups", "coded_groups", "fec_groups"),
    *("acks_received", "ack_blocks", "send_gap_sum", "send_gap_count", "peer_outage_time"),
)
_OF_LINKS = (
    *("sent_bytes", "sojourn_sum", "sojourn_count", "queue_time", "drops_overflow"),
    *("airtime", "attempts", "collisions", "failed", "mpdus", "retries"),
    *("drops_aqm", "drops_policed", "drops_loss", "ce_marks", "sce_marks"),
)


def run_of(
    delivered: Sequence[Sequence[float]],
    *,
    interval: float = 0.1,
    warmup: str = "0 s",
    start: Sequence[float] | None = None,
    stop: Sequence[float] | None = None,
    completed: Sequence[float] | None = None,
    traffic: str = "greedy",
    transport: str = "tcp",
    alone: Sequence[RunData] = (),
    **columns: Any,
) -> RunData:
    """A run over one 10 Mbit/s link from bytes delivered per interval (row) and flow (column)."""
    matrix = np.asarray(delivered, dtype=float)
    intervals, flows = matrix.shape
    ends = np.round(np.arange(1, intervals + 1) * interval, 9)
    absent = set() if transport == "tcp" else WITHOUT_WINDOW
    facts = _facts(flows, start or [0.0] * flows, stop or [ends[-1]] * flows, completed)
    link_samples = {name: np.arange(1.0, intervals + 1) for name in _OF_LINKS} | {"time": ends}
    links = {"link": np.arange(1)} | {f"sojourn_p{p}": np.array([p * 1e-3]) for p in (50, 95, 99)}
    flow = {"traffic": {"kind": traffic}, "transport": transport, "cca": {"kind": "reno"}}
    samples = _samples(matrix, ends, absent, columns)
    return RunData(
        {"warmup": warmup, "flows": [flow] * flows},
        {"flow_samples": samples, "flows": facts, "link_samples": link_samples, "links": links},
        {
            "links": [{"id": "bottleneck", "rate": "10 Mbit/s", "overhead": "14 B"}],
            "paths": [[0]] * flows,
        },
        lambda flows: (alone[flows[0]], [0]),
    )


def _samples(matrix: Any, ends: Any, absent: set[str], columns: Mapping[str, Any]) -> Any:
    intervals, flows = matrix.shape
    zeros = np.zeros(intervals * flows)
    samples = {name: zeros * np.nan if name in absent else zeros for name in _COLUMNS} | {
        "time": np.repeat(ends, flows),
        "flow": np.tile(np.arange(flows), intervals),
        "delivered_bytes": matrix.ravel(),
    }
    return samples | {n: np.asarray(c, dtype=float).ravel() for n, c in columns.items()}


def _facts(flows: int, start: Any, stop: Any, completed: Any) -> Any:
    return {
        "flow": np.arange(flows),
        "base_rtt": np.full(flows, 0.02),
        "mss": np.full(flows, MSS),
        "full_packet": np.full(flows, MSS + 52),
        "start": np.array(start),
        "stop": np.array(stop),
        "established_at": np.array(start),
        "completed_at": np.array(completed or [np.nan] * flows),
        "rtt_p50": np.full(flows, 0.025),
        "rtt_p95": np.full(flows, 0.03),
    }


def of(run: RunData, scope: str, name: str) -> list[float]:
    return list(compute(run, scope, [name])[name])  # type: ignore[arg-type]
