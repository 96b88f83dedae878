"""Sojourn's TCP and queue disciplines beside ns-3's: the scenarios of experiments/ns3 in both.

Prints a table in Markdown and puts it into ``docs/ns3.md``. Both simulators run the same
replications, whose flows start at the same times; what is random otherwise (losses, RED, PIE) is
each one's own.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ns3 import HERE, MODULES, ns3_flags, processor_time

import sojourn
from sojourn.quantity import split
from sojourn.scenario import load
from sojourn.sweeps.expand import plan

SCENARIOS = HERE.parent / "experiments" / "ns3"
PAGE = HERE.parent / "docs" / "ns3.md"
CONTROLS = {"reno": "TcpNewReno", "cubic": "TcpCubic", "bbr": "TcpBbr"}
#: Bytes that RED takes a packet to have.
PACKET = 1500
#: Mbit/s, ms and packets, as they are printed.
QUANTITIES = {"goodput (Mbit/s)": ".2f", "RTT (ms)": ".1f", "drops": ".0f"}
Row = tuple[float, ...]


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


def in_ns3(program: Path, scenario: Mapping[str, Any], seed: int) -> list[Row]:
    """Goodput and RTT of each flow, and the queue's drops in a row of its own."""
    link, flows = scenario["topology"]["bottleneck"], scenario["flows"]
    rate = link["rate"].replace(" ", "").replace("bit/s", "bps")
    arguments = {
        "controls": ",".join(CONTROLS[flow["cca"]["kind"]] for flow in flows),
        "rtts": ",".join(str(seconds(flow["rtt"])) for flow in flows),
        "starts": ",".join(str(seconds(flow["start"])) for flow in flows),
        "rate": rate,
        "discipline": discipline(link["queue"], rate),
        "loss": split(link["loss"])[0],
        "seconds": seconds(scenario["duration"]),
        "RngRun": seed,
    }
    _, output = processor_time([str(program), *(f"--{k}={v}" for k, v in arguments.items())])
    lines = [line.split()[1:] for line in output.splitlines()]
    told = [(float(goodput) / 1e6, 1000 * float(rtt)) for goodput, rtt in lines[:-1]]
    return [*told, (float(lines[-1][0]),)]


def here(scenario: Mapping[str, Any]) -> list[Row]:
    """The same of Sojourn."""
    result = sojourn.run(dict(scenario))
    flows = result.flows.select("mean_throughput_l7", "mean_srtt_l4").rows()
    return [*flows, (result.links["total_qdisc_drops_l2"].sum(),)]


def rows(
    name: str, theirs: Sequence[list[Row]], ours: Sequence[list[Row]], labels: list[str]
) -> Iterator[str]:
    """Lines of the table: of each flow, then of the queue."""
    for place, label in enumerate([*labels, "queue"]):
        quantities = list(QUANTITIES.items())
        chosen = quantities[2:] if label == "queue" else quantities[:2]
        for index, (quantity, form) in enumerate(chosen):
            a, b = ([run[place][index] for run in side] for side in (theirs, ours))
            yield (
                f"| {name} | {label} | {quantity} | {shown(a, form)} | {shown(b, form)} "
                f"| {difference(statistics.mean(a), statistics.mean(b))} |"
            )


def shown(values: Sequence[float], form: str) -> str:
    """A mean with its range."""
    low, high = (format(value, form) for value in (min(values), max(values)))
    return format(statistics.mean(values), form) + (f" ({low} to {high})" if low != high else "")


def difference(theirs: float, ours: float) -> str:
    """In percent of theirs."""
    return f"{100 * (ours / theirs - 1):+.1f} %" if theirs else ""


def main() -> None:
    """Builds ns-3's program, runs every scenario in both and writes the table."""
    flags = ns3_flags(MODULES)
    table = ["| scenario | of | quantity | ns-3 | Sojourn | difference |", "|" + " --- |" * 6]
    print(*table, sep="\n")
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "tcp"
        source = str(HERE / "ns3" / "tcp.cc")
        subprocess.run(["g++", "-O2", "-std=c++17", source, "-o", str(program), *flags], check=True)
        for file in sorted(SCENARIOS.glob("*.toml")):
            planned = plan(load(file))
            runs = [planned.point(*place).canonical for place in planned.places()]
            theirs = [in_ns3(program, run, seed + 1) for seed, run in enumerate(runs)]
            ours = [here(run) for run in runs]
            controls = [flow["cca"]["kind"] for flow in runs[0]["flows"]]
            labels = [f"{place} {control}" for place, control in enumerate(controls)]
            for line in rows(file.stem, theirs, ours, labels):
                print(line, flush=True)
                table.append(line)
    begin, end = "<!-- table -->\n", "<!-- end -->"
    text = PAGE.read_text()
    PAGE.write_text(
        re.sub(f"{begin}.*{end}", begin + "\n".join(table) + f"\n{end}", text, flags=re.S)
    )


if __name__ == "__main__":
    sys.exit(main())
