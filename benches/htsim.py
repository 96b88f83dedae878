"""Sojourn beside htsim on the same workloads and machine: packets per second of processor time.

    git clone https://github.com/Broadcom/csg-htsim
    python -m benches.htsim csg-htsim

builds htsim's library there, if that was not done, and ``benches/htsim/dumbbell.cpp`` with it. The
two run in turns; the medians of packets per second and of their ratios count.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benches.ns3 import COMPARED, WORKLOADS, processor_time
from benches.profile import binary
from benches.ratios import once
from sojourn.quantity import number

SOURCE = Path(__file__).parent / "htsim" / "dumbbell.cpp"
TURNS = 7


def built(checkout: Path, program: Path) -> Path:
    """The workloads' program for htsim."""
    sources = checkout / "sim"
    subprocess.run(["make", "-C", sources, "libhtsim.a"], check=True, stdout=subprocess.DEVNULL)
    command = ["g++", "-O3", "-std=c++17", f"-I{sources}", str(SOURCE), f"{sources}/libhtsim.a"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def htsim_rate(program: Path, workload: str) -> float:
    """Packets per second of processor time in htsim."""
    scenario = tomllib.loads((WORKLOADS / f"{workload}.toml").read_text(encoding="utf-8"))
    flow, link = scenario["flows"][0], scenario["topology"]["bottleneck"]
    arguments = (
        flow.get("count", 1),
        round(number(link["rate"])),
        link["queue"]["limit"].removesuffix(" packets"),
        flow["rtt"].removesuffix(" ms"),
        scenario["duration"].removesuffix(" s"),
    )
    seconds, output = processor_time([str(program), *map(str, arguments)])
    return int(output) / seconds


def turns(htsim: Path, sojourn: str, workload: str) -> Iterator[tuple[float, float]]:
    """The two rates, a pair for each turn."""
    for _ in range(TURNS):
        yield htsim_rate(htsim, workload), 1e9 / once(sojourn, workload).per_packet


def main() -> None:
    """Prints both rates and their ratio, workload by workload."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, help="where htsim's sources are")
    sojourn = binary()
    with tempfile.TemporaryDirectory() as directory:
        htsim = built(parser.parse_args().checkout, Path(directory) / "dumbbell")
        print(f"{'workload':8} {'htsim':>10} {'Sojourn':>10} {'ratio':>6}   (packets per second)")
        for workload in COMPARED:
            pairs = list(turns(htsim, sojourn, workload))
            theirs, ours = (median(rates) for rates in zip(*pairs, strict=True))
            ratio = median(our / their for their, our in pairs)
            print(f"{workload:8} {theirs:10,.0f} {ours:10,.0f} {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
