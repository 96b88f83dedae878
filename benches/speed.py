"""How fast the simulator runs: simulated seconds and data packets per second of wall time."""

from __future__ import annotations

import statistics

from sojourn.engine import simulate
from sojourn.scenario import load

REPETITIONS = 5
SCENARIO = """
name = "speed"
duration = "60 s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "{rate}"
queue = {{ kind = "{queue}" }}

[[flows]]
cca = "{cca}"
rtt = "20 ms"
count = {count}
"""
CASES = [
    ("1 flow of cubic, 100 Mbit/s, fifo", "100 Mbit/s", "fifo", "cubic", 1),
    ("2 flows of reno, 100 Mbit/s, fifo", "100 Mbit/s", "fifo", "reno", 2),
    ("2 flows of bbr, 100 Mbit/s, fifo", "100 Mbit/s", "fifo", "bbr", 2),
    ("10 flows of cubic, 1 Gbit/s, fq_codel", "1 Gbit/s", "fq-codel", "cubic", 10),
]


def main() -> None:
    """Prints the median of some repetitions per case."""
    for name, rate, queue, cca, count in CASES:
        text = SCENARIO.format(rate=rate, queue=queue, cca=cca, count=count)
        canonical = load(text).canonical
        timings = [simulate(canonical)[1] for _ in range(REPETITIONS)]
        wall = statistics.median(timing["wall_seconds"] for timing in timings)
        seconds, packets = timings[0]["simulated_seconds"], timings[0]["data_packets"]
        print(f"{name:40} {seconds / wall:10,.0f} s/s {packets / wall:12,.0f} packets/s")


if __name__ == "__main__":
    main()
