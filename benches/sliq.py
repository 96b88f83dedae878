"""SLIQ's goodput over loopback, a core per side: sections 3.1.2 and 3.2.1 of the GNAT report.

``python benches/sliq.py [--seconds N] [--runs N] [--program PATH]``; the report ran it five times
for 60 s.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
from collections.abc import Sequence
from statistics import fmean

from sojourn_reproductions.gnat2021.published import published


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/sojourn-sliq")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    print(f"goodput over loopback, Mbit/s; {asked.runs} runs of {asked.seconds:g} s each")
    heads = f"{'controls':12} {'one way':>9} {'report':>7}"
    print(f"{heads} {'both ways':>13} {'mean':>6} {'report':>7}")
    for report in published("sliq_maximum"):
        controls = report["controls"]
        runs = [_run(asked.program, controls, asked.seconds, False) for _ in range(asked.runs)]
        way = fmean(there for there, _ in runs)
        there, back = _run(asked.program, controls, asked.seconds, True)
        print(
            f"{controls:12} {way:9.0f} {report['one_way']:>7} {f'{there:.0f}/{back:.0f}':>13} "
            f"{(there + back) / 2:6.0f} {report['two_way_mean']:>7}"
        )


def _run(program: str, controls: str, seconds: float, both: bool) -> tuple[float, float]:
    """Goodput from client to server and back, Mbit/s; each at the one that receives."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    lasts = ["--for", f"{seconds} s"]
    cores = sorted(os.sched_getaffinity(0))
    server = _start([program, "server", address, "--once", *(lasts if both else [])], cores[0])
    sender = [program, "client", address, "--cca", controls, *lasts]
    client = _start(sender, cores[-1])
    told = [json.loads(process.communicate()[0]) for process in (server, client)]
    for process in (server, client):
        if process.returncode:
            raise SystemExit(f"{process.args}: exit status {process.returncode}")
    there, back = (float(report["goodput_mbit"] or 0) for report in told)
    return there, back


def _start(command: Sequence[str], core: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.sched_setaffinity(process.pid, {core})
    return process


if __name__ == "__main__":
    main()
