"""Sojourn's TCP and queue disciplines beside ns-3's: the scenarios of experiments/ns3 in both.

Stores what ns-3 gives in ``reference/ns3/tcp.csv``, runs ours and writes
``docs/explanation/ns3.md``. Both simulators run the same replications, whose flows start at the
same times and lose the packets of the same numbers; the draws of RED and PIE are each one's own.

Files that are named are compiled in: changed copies of ns-3's sources, whose functions take the
place of the library's. Each needs another name in ``NS_LOG_COMPONENT_DEFINE``, which is unique.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from ns3 import HERE, MODULES, ns3_flags, processor_time

from sojourn.quantity import split
from sojourn.result import run
from tools.pages import ns3 as page

CONTROLS = {"reno": "TcpNewReno", "cubic": "TcpCubic", "bbr": "TcpBbr"}
#: Bytes that RED takes a packet to have.
PACKET = 1500


def discipline(queue: Mapping[str, Any], rate: str) -> str:
    """ns-3's name of a queue discipline with its attributes."""
    limit = f"MaxSize={queue['limit'].split()[0]}p"
    match queue["kind"]:
        case "fifo":
            return f"Fifo:{limit}"
        case "codel":
            times = {name.title(): seconds(queue[name]) for name in ("target", "interval")}
            return f"CoDel:{limit}" + "".join(f":{name}={time}s" for name, time in times.items())
        case "fq_codel":
            return f"FqCoDel:{limit}:Flows=1024"
        case "pie":
            times = "QueueDelayReference=15ms:MaxBurstAllowance=150ms"
            return f"Pie:{limit}:{times}:UseDerandomization=true"
        case "red":
            low, high = (split(queue[key])[0] / PACKET for key in ("min", "max"))
            told = f"Red:{limit}:MinTh={low:g}:MaxTh={high:g}:MeanPktSize={PACKET}"
            # The weight that 110 packets of burst make, and a probability of 2 %.
            return f"{told}:LinkBandwidth={rate}:QW=0.001953125:LInterm=50:Gentle=true:Wait=false"
    raise SystemExit(f"no counterpart of {queue['kind']}")


def seconds(text: str) -> float:
    """A time in seconds."""
    return split(text)[0] / 1000


def lost(scenario: Mapping[str, Any]) -> list[int]:
    """Numbers of the packets behind the bottleneck that random losses take from Sojourn's run."""
    if not split(scenario["topology"]["bottleneck"]["loss"])[0]:
        return []
    packets = run({**scenario, "record": ["packets"]}).packets
    passing = (pl.col("event") == "deliver") | (pl.col("reason") == "loss")
    behind = packets.filter((pl.col("link") == "bottleneck") & passing)
    return (behind["event"] == "drop").arg_true().to_list()


def in_ns3(program: Path, scenario: Mapping[str, Any], seed: int) -> page.Run:
    """Goodput and RTT of each flow, and the queue's drops in a row of its own."""
    link, flows = scenario["topology"]["bottleneck"], scenario["flows"]
    rate = link["rate"].replace(" ", "").replace("bit/s", "bps")
    numbers = lost(scenario)
    arguments = {
        "controls": ",".join(CONTROLS[flow["cca"]["kind"]] for flow in flows),
        "rtts": ",".join(str(seconds(flow["rtt"])) for flow in flows),
        "starts": ",".join(str(seconds(flow["start"])) for flow in flows),
        "rate": rate,
        "discipline": discipline(link["queue"], rate),
        "seconds": seconds(scenario["duration"]),
        "RngRun": seed,
    }
    if numbers:
        arguments["lost"] = ",".join(map(str, numbers))
    _, output = processor_time([str(program), *(f"--{k}={v}" for k, v in arguments.items())])
    lines = [line.split()[1:] for line in output.splitlines()]
    told = [(float(goodput) / 1e6, 1000 * float(rtt)) for goodput, rtt in lines[:-1]]
    return [*told, (float(lines[-1][0]),)]


def main() -> None:
    """Builds ns-3's program, runs every scenario in it, stores what it gives, renews the page."""
    flags = ns3_flags(MODULES)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "tcp"
        sources = [str(HERE / "ns3" / "tcp.cc"), *sys.argv[1:]]
        command = ["g++", "-O2", "-std=c++17", *sources, "-o", str(program), *flags]
        subprocess.run(command, check=True)
        page.store(list(page.measured(partial(in_ns3, program))))
    page.main()


if __name__ == "__main__":
    main()
