"""What is recorded of runs on kernels, beside what is recorded of simulated ones."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

import sojourn
from sojourn.record import SCHEMAS
from test_pcap import counts

pytestmark = pytest.mark.concurrent
PLAIN = """
name = "recorded"
duration = "1 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "8 Mbit/s"
queue = { kind = "fifo", limit = "10 packets" }
[[flows]]
cca = "reno"
rtt = "20 ms"
"""
RECORDED = 'record = ["cc", "queue", "packets", "pcap"]\n' + PLAIN
REAL = pytest.mark.parametrize(
    "backend",
    [
        pytest.param("live", marks=[pytest.mark.alone, pytest.mark.needs("live")]),
        pytest.param("kernel", marks=pytest.mark.needs("virtual-kernel")),
    ],
)


def first_packets(result: sojourn.Result) -> pl.DataFrame:
    """The handshake's and the first window as they reach the bottleneck."""
    offered = result.packets.filter(pl.col("event") == "enqueue")
    return offered.head(12).select("link", "flow", "index", "size")


@REAL
def test_packets_and_states_are_those_of_the_simulator_side_by_side(backend: str) -> None:
    simulated, result = sojourn.run(RECORDED), sojourn.run(RECORDED, backend=backend)
    assert first_packets(result).equals(first_packets(simulated))
    assert dict(result.packets.schema) == SCHEMAS["packets"]
    events = Counter(result.packets["event"])
    assert events["drop"] > 0
    held = events["enqueue"] - events["deliver"] - events["drop"]
    assert 0 <= held < 50
    assert result.packets["time"].is_sorted()
    state = result.state
    assert dict(state.schema) == SCHEMAS["state"]
    queue = state.filter(pl.col("component") == "link.bottleneck.queue")
    assert queue.filter(pl.col("name") == "packets")["value"].max() == 10
    control = state.filter(pl.col("component") == "flow.0.cc")
    assert {"cwnd", "state", "srtt", "retransmissions"} <= set(control["name"])
    assert "recovery" in set(control["text"])
    cwnd = control.filter(pl.col("name") == "cwnd")["value"]
    assert cwnd[0] >= 10
    assert cwnd.max() < 200


@REAL
def test_a_capture_has_the_packets_of_the_tables(backend: str) -> None:
    result = sojourn.run(RECORDED, backend=backend)
    said, names, packets = counts(result.record.files["packets.pcapng"])
    assert f"recorded, seed 1, {backend}".encode() in said
    ends = [f"bottleneck:{end}" for end in ("near", "far", "lost")]
    assert names == ["senders", "receivers", *ends]
    events = Counter(result.packets["event"])
    assert [packets[number] for number in (2, 3, 4)] == [
        events[name] for name in ("enqueue", "deliver", "drop")
    ]
    # Acknowledgments come back to the host, and go past the bottleneck.
    assert packets[0] > 1.3 * packets[2]


@pytest.mark.needs("virtual-kernel", "tc")
@pytest.mark.parametrize("queue", ['"codel"', '{ kind = "kernel", name = "codel" }'])
def test_recording_changes_no_run_on_a_kernel(queue: str) -> None:
    changed = PLAIN.replace('{ kind = "fifo", limit = "10 packets" }', queue)
    plain = sojourn.run(changed, backend="kernel")
    result = sojourn.run('record = ["queue", "packets"]\n' + changed, backend="kernel")
    assert result.series.flows.equals(plain.series.flows)
    assert result.series.links.equals(plain.series.links)
    waiting = result.state.filter(pl.col("name") == "packets")
    assert set(waiting["component"]) == {"link.bottleneck.queue"}
    assert waiting["value"].max() > 5
