"""Where the instructions of a packet are, workload by workload: tables of the page on speed.

    python -m benches.profiles

Each workload runs for some simulated seconds under callgrind, which simulates caches as well: those
of one core, 32 kB of code and of data, and 1 MB behind them. Beside that, a few flows as those of
workload e are timed in turns with b, to tell what e's windows cost from what a thousand states do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from benches import ratios
from benches.profile import DATA, ON_LINKS, binary, profiled, read
from tools.pages import kept
from tools.pages import performance as page

COMMAND = "python -m benches.profiles"
#: Simulated seconds of each workload.
SECONDS = {
    "b": 10.0,
    "bbr": 10.0,
    "fq-codel": 10.0,
    "cake": 10.0,
    "loss": 20.0,
    "e": 2.0,
    "g": 0.5,
    "h": 0.3,
    "sliq": 4.0,
    "mesh": 12.0,
    "wifi-20": 1.0,
}
CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,8,64")
#: What callgrind counts, by its names of the events.
MISSES = {
    "misses of code, first level": ("I1mr",),
    "misses of data, first level": ("D1mr", "D1mw"),
    "misses of data, second level": ("DLmr", "DLmw"),
}
#: Ten flows with the rates, windows and queue of e's thousand, for as many packets.
FEW = {"count": "10", "rate": '"10 Mbit/s"', "limit": '"17 packets"'}
FEW_SECONDS = 1_000.0


def profile(program: str, name: str) -> Iterator[kept.Measured]:
    """Of a packet of a workload: instructions of each component, and misses."""
    with ratios.changed(name, SECONDS[name]) as file:
        text, told = profiled(program, file, *CACHES)
    packets = told[ON_LINKS if name in ratios.ON_LINKS else DATA]
    for what, count in read(text).most_common():
        yield row(name, what, count / packets)
    counts = totals(text)
    for what, events in MISSES.items():
        missed = sum(counts[event] for event in events)
        yield row(name, what, missed / packets)


def row(name: str, what: str, per_packet: float) -> kept.Measured:
    """A row of the table."""
    return {"workload": name, "seconds": SECONDS[name], "what": what, "per packet": per_packet}


def totals(profile: str) -> dict[str, int]:
    """All that a profile has counted of each event."""
    [events] = re.findall(r"^events: (.*)$", profile, re.MULTILINE)
    [counts] = re.findall(r"^totals: (.*)$", profile, re.MULTILINE)
    return dict(zip(events.split(), map(int, counts.split()), strict=False))


def few(program: str) -> Iterator[kept.Measured]:
    """The cost per packet of ten flows as those of e to that of b: the median of turns."""
    with ratios.changed("e", FEW_SECONDS, **FEW) as file:
        pairs = [
            (ratios.once(program, "b"), ratios.run(program, file)) for _ in range(ratios.TURNS)
        ]
    ratio = median(run.per_packet / base.per_packet for base, run in pairs)
    yield {"what": "ten flows as those of e", "to b": ratio}


def main() -> None:
    """Measures all of it, stores it and writes the page."""
    quick, program = binary(), binary(lines=True)
    kept.store(page.FEW, COMMAND, {kept.TABLE: list(few(quick))})
    rows = [row for name in SECONDS for row in profile(program, name)]
    kept.store(page.PROFILES, COMMAND, {kept.TABLE: rows})
    kept.put(page.NAME, page.page())
    print(page.profiles(*SECONDS))


if __name__ == "__main__":
    main()
