"""Sojourn's Wi-Fi beside ns-3's: UDP goodput of the same stations, and what it costs.

Prints both and stores what ns-3 gave in ``reference/ns3/wifi.csv``, for the page on Wi-Fi.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ns3 import HERE, ns3_flags, processor_time

from tools.pages.wifi_ns3 import SECONDS, SETUPS, Published, measured, store

MODULES = ["core", "network", "internet", "applications", "mobility", "wifi"]


def ns3() -> Iterator[Published]:
    """Builds ns-3's program and runs each set-up."""
    flags = ns3_flags(MODULES)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "wifi"
        source = str(HERE / "ns3" / "wifi.cc")
        subprocess.run(["g++", "-O2", "-std=c++17", source, "-o", str(program), *flags], check=True)
        for standard, stations, ampdu in SETUPS:
            arguments = {"standard": standard, "stations": stations, "ampdu": ampdu}
            arguments["seconds"] = SECONDS
            command = [str(program), *(f"--{key}={value}" for key, value in arguments.items())]
            seconds, output = processor_time(command)
            yield Published(standard, stations, ampdu, float(output), round(seconds, 1))


def main() -> None:
    """Prints both, set-up by set-up."""
    print("set-up: goodput in ns-3 and here (Mbit/s), difference; processor time (s)")
    rows = []
    for row in ns3():
        began = time.process_time()
        own = measured(row)
        spent = time.process_time() - began
        difference = f"{100 * (own / row.goodput - 1):+.1f} %"
        times = f"{row.processor_time:.1f} and {spent:.2f}"
        print(f"{row.name}: {row.goodput:.1f} and {own:.1f}, {difference}; {times}", flush=True)
        rows.append(row)
    store(rows)


if __name__ == "__main__":
    main()
