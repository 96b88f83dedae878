"""Sojourn beside ns-3 on the same workload and machine: packets per second of processor time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
WORKLOADS = HERE.parent / "experiments" / "speed"
MODULES = ["core", "network", "internet", "applications", "point-to-point", "traffic-control"]
# Those that ns-3 finishes within a minute.
COMPARED = ["b", "d"]


def processor_time(command: list[str]) -> tuple[float, str]:
    """Processor seconds of a command, and what it prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed")
    return usage.ru_utime + usage.ru_stime, output


def ns3_flags(modules: list[str]) -> list[str]:
    """Compiler flags for Debian's ns-3; exits with advice if it is not there."""
    packages = [f"ns3-{module}" for module in modules]
    if shutil.which("pkg-config") and shutil.which("g++"):
        command = ["pkg-config", "--cflags", "--libs", *packages]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split()
    sys.exit("ns-3 is not installed: apt-get install libns3-dev libgsl-dev g++ pkg-config")


def ns3_rate(program: Path, workload: str) -> float:
    """Packets per second of processor time in ns-3."""
    scenario = tomllib.loads((WORKLOADS / f"{workload}.toml").read_text())
    flow, link = scenario["flows"][0], scenario["topology"]["bottleneck"]
    arguments = {
        "flows": flow.get("count", 1),
        "rate": link["rate"].replace(" ", "").replace("bit/s", "bps"),
        "limit": link["queue"]["limit"].split()[0],
        "rtt": float(flow["rtt"].removesuffix(" ms")) / 1000,
        "seconds": scenario["duration"].removesuffix(" s"),
    }
    command = [str(program), *(f"--{key}={value}" for key, value in arguments.items())]
    seconds, output = processor_time(command)
    return int(output) / seconds


def sojourn_rate(workload: str) -> float:
    """Packets per second of processor time in Sojourn's core."""
    bench = ["cargo", "bench", "--quiet", "-p", "sojourn-catalogue", "--bench", "workloads"]
    command = [*bench, "--", str(WORKLOADS / f"{workload}.toml")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    packets, _, _, nanoseconds, *_ = map(float, output.split())
    return packets / nanoseconds * 1e9


def main() -> None:
    """Builds ns-3's program and prints both rates and their ratio, workload by workload."""
    flags = ns3_flags(MODULES)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "dumbbell"
        source = str(HERE / "ns3" / "dumbbell.cc")
        subprocess.run(["g++", "-O3", "-std=c++17", source, "-o", str(program), *flags], check=True)
        print(f"{'workload':8} {'ns-3':>10} {'Sojourn':>10} {'ratio':>6}   (packets per second)")
        for workload in COMPARED:
            ns3, sojourn = ns3_rate(program, workload), sojourn_rate(workload)
            print(f"{workload:8} {ns3:10,.0f} {sojourn:10,.0f} {sojourn / ns3:6.0f}", flush=True)


if __name__ == "__main__":
    main()
