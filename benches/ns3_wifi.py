"""Sojourn's Wi-Fi beside ns-3's: UDP goodput of the same stations, and what it costs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ns3 import HERE, ns3_flags, processor_time

from sojourn.engine import run
from sojourn.pages.wifi import datagrams, scenario

MODULES = ["core", "network", "internet", "applications", "mobility", "wifi"]
#: Standard, stations, bytes of an A-MPDU.
SETUPS = [("a", 5, 0), ("n", 1, 65_535), ("ac", 3, 262_143)]
SECONDS = 4.0


def sojourn(standard: str, stations: int, ampdu: int) -> tuple[float, float]:
    """Goodput (Mbit/s) and seconds of processor time."""
    keys = {"standard": standard, "airtime": "5484 us"}
    if ampdu:
        keys["bytes"] = f"{ampdu} B"
    rate = "40 Mbit/s" if standard == "a" else "850 Mbit/s"
    flows = [datagrams(f"s{n}", rate) for n in range(stations)]
    began = time.process_time()
    result = run(scenario(keys, flows, stations, SECONDS), metrics=["mean_throughput_l4"])
    return float(result.flows["mean_throughput_l4"].sum()), time.process_time() - began


def main() -> None:
    """Builds ns-3's program and prints both, set-up by set-up."""
    flags = ns3_flags(MODULES)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "wifi"
        source = str(HERE / "ns3" / "wifi.cc")
        subprocess.run(["g++", "-O2", "-std=c++17", source, "-o", str(program), *flags], check=True)
        print("standard stations   ns-3  Sojourn  difference  processor time: ns-3, Sojourn (s)")
        for standard, stations, ampdu in SETUPS:
            arguments = {"standard": standard, "stations": stations, "ampdu": ampdu}
            arguments["seconds"] = SECONDS
            command = [str(program), *(f"--{key}={value}" for key, value in arguments.items())]
            seconds, output = processor_time(command)
            measured, own = sojourn(standard, stations, ampdu)
            expected = float(output)
            print(
                f"{standard:8} {stations:8} {expected:6.1f} {measured:8.1f} "
                f"{100 * (measured / expected - 1):+10.1f} %  {seconds:6.1f} {own:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
