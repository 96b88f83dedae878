"""How fast overlay nodes forward: three programs in a row on loopback, IP packets of 1,400 bytes.

``python benches/gnat_speed.py [--seconds N] [--runs N] [--rates MBIT ...] [--program PATH]``:
medians of the runs; the highest rate is to be more than they can. Each packet is sealed
and opened twice.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

NODES = ("1", "2", "3")
#: Bytes that a host sends at once, and its headers.
PAYLOAD, HEADERS = 1_372, 28
#: Until the flow has its rate.
BEGINS = 3.0
#: Any rate that the nodes can forward is admitted, with short queues.
OVERLAY = """
duration = "60 min"
sample_interval = "1 s"
[topology]
kind = "graph"
nodes = [
    {{ id = "1", kind = "overlay", k = 1e15 }},
    {{ id = "2", kind = "overlay", k = 1e15 }},
    {{ id = "3", kind = "overlay", k = 1e15 }},
]
[[topology.links]]
id = "12"
from = "1"
to = "2"
rate = "10 Gbit/s"
delay = "1 ms"
[[topology.links]]
id = "23"
from = "2"
to = "3"
rate = "10 Gbit/s"
delay = "1 ms"
[[flows]]
from = "1"
to = "3"
transport = "udp"
mss = {payload}
traffic = {{ kind = "cbr", rate = "{rate} Mbit/s", size = "{payload} B" }}
service = {{ ceiling = "10 Gbit/s" }}
"""


@dataclass(frozen=True)
class Run:
    """Goodput in Mbit/s, datagrams delivered in a second, and the share of a core of each node."""

    goodput: float
    datagrams: float
    shares: tuple[float, ...]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/sojourn-gnat")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rates", type=float, nargs="+", default=[300, 2_000])
    asked = parser.parse_args()
    print(f"three nodes, {PAYLOAD + HEADERS}-byte packets; medians of {asked.runs} runs")
    shares = " ".join(f"{f'node {node}':>7}" for node in NODES)
    print("offered and goodput in Mbit/s, nodes in % of a core")
    print(f"{'offered':>8} {'goodput':>8} {'packets/s':>10} {shares}")
    for rate in asked.rates:
        runs = [_run(asked.program, rate, asked.seconds) for _ in range(asked.runs)]
        goodput = median(run.goodput for run in runs)
        datagrams = median(run.datagrams for run in runs)
        busy = [median(run.shares[node] for run in runs) for node in range(len(NODES))]
        used = " ".join(f"{100 * share:7.0f}" for share in busy)
        print(f"{rate:8.0f} {goodput:8.0f} {datagrams:10.0f} {used}")


def _run(program: str, rate: float, seconds: float) -> Run:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = folder / "speed.toml"
        scenario.write_text(OVERLAY.format(payload=PAYLOAD, rate=f"{rate:g}"))
        places = zip(NODES, _ports(), strict=True)
        where = [f"--address={node}=127.0.0.1:{port}" for node, port in places]
        deploy = [program, "deploy", str(scenario), "--out", str(folder), *where]
        subprocess.run(deploy, check=True, stdout=subprocess.DEVNULL)
        nodes = [
            subprocess.Popen([program, "node", str(folder / f"{node}.toml")], stderr=log)
            for node in NODES
            for log in [(folder / f"{node}.log").open("w")]
        ]
        try:
            return _measured([node.pid for node in nodes], folder / f"{NODES[-1]}.sock", seconds)
        finally:
            for node in nodes:
                node.terminate()
            for node in nodes:
                node.wait(timeout=10)


def _ports() -> list[int]:
    """Ports that nobody has now."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in NODES]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _measured(processes: list[int], status: Path, seconds: float) -> Run:
    """What the last node delivers, once the flow has its rate."""
    time.sleep(BEGINS)
    before, used = _delivered(status), [_used(process) for process in processes]
    began = time.monotonic()
    time.sleep(seconds)
    after = _delivered(status)
    took = time.monotonic() - began
    shares = [(_used(process) - was) / took for process, was in zip(processes, used, strict=True)]
    rate = (after[1] - before[1]) / (after[0] - before[0])
    return Run(8e-6 * PAYLOAD * rate, rate, tuple(shares))


def _delivered(status: Path) -> tuple[float, int]:
    """A node's time in s, and the packets that its flows have delivered."""
    with socket.socket(socket.AF_UNIX) as asks:
        asks.settimeout(10)
        asks.connect(str(status))
        with asks.makefile() as answer:
            told = json.load(answer)
    return told["uptime_s"], sum(flow["delivered_packets"] or 0 for flow in told["flows"])


def _used(process: int) -> float:
    """Processor time of a process, in s."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
