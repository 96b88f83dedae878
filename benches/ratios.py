"""Every workload of ``experiments/speed`` beside workload b, with goals: ``make bench``.

Prints the table, stores it in ``docs/explanation/performance/`` and writes the page from it. Each
workload runs in a process of its own, in turns with the one that it is compared with, so that what
else the machine does strikes both; the median of the ratios counts. Instructions repeat exactly:

    python -m benches.ratios instructions

counts them alone, and says what moved from those that are stored.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benches.added import compiled
from benches.profile import binary, counted
from sojourn import data
from tools.pages import kept
from tools.pages import performance as page

WORKLOADS = Path(__file__).parent.parent / "experiments" / "speed"
COMMAND = "make bench"
TURNS = 5
#: Cost per packet to that of another, at most.
RATIOS = {
    "bbr": ("b", 1.15),
    "fq-codel": ("b", 1.15),
    "cake": ("b", 1.3),
    "loss": ("b", 1.3),
    "d": ("b", 1.2),
    "e": ("b", 1.6),
    "f": ("b", 1.1),
    "g": ("b", 2.5),
    "h": ("b", 4.0),
    "sliq": ("b", 1.8),
    "wifi-20": ("b", 1.75),
    "mesh": ("b", 6.0),
    "rtt-200": ("one-flow-1g", 1.3),
}
#: Overlays: what counts are packets that links carry, those of the overlay itself included. A
#: packet that arrived has crossed several links.
ON_LINKS = {"mesh"}
#: Largest resident memory, MB.
MEMORY = {"b": 20, "e": 60, "g": 250}
#: Simulated seconds whose instructions are counted, and the goal per packet, if there is one.
INSTRUCTIONS = {"b": (10, 2_700), "d": (2, None), "e": (2, None), "h": (1, None)}
#: Processor time that the command adds to this workload, s.
COMMANDED, ADDED = "e", 0.3


class Cost(NamedTuple):
    """What a run cost; times in nanoseconds of the processor, memory in kB."""

    packets: float
    events: float
    simulated: float
    nanoseconds: float
    memory: float
    on_links: float

    @property
    def per_packet(self) -> float:
        """Nanoseconds."""
        return self.nanoseconds / self.packets


def scenario(name: str) -> str:
    """The file of a workload."""
    return str(data.path(page.file(name)))


@contextmanager
def changed(name: str, seconds: float, **texts: str) -> Iterator[str]:
    """The file of a workload for so many seconds, with these values where the keys first are.

    Raises:
        LookupError: if it has no such key.

    """
    text = Path(scenario(name)).read_text(encoding="utf-8")
    for key, value in {"duration": f'"{seconds:g} s"', **texts}.items():
        text, found = re.subn(rf'\b{key} = (".*?"|\d+)', f"{key} = {value}", text, count=1)
        if not found:
            raise LookupError(f"{scenario(name)} has no {key}")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "changed.toml"
        file.write_text(text, encoding="utf-8")
        yield str(file)


def once(program: str, name: str) -> Cost:
    """A run of a workload."""
    cost = run(program, scenario(name))
    return cost._replace(packets=cost.on_links) if name in ON_LINKS else cost


def run(program: str, file: str) -> Cost:
    """A run of a file."""
    done = subprocess.run([program, file], check=True, capture_output=True, text=True)
    return Cost(*map(float, done.stdout.split()))


def measured(program: str) -> Iterator[tuple[kept.Measured, list[kept.Measured]]]:
    """Of every workload, its row, and those of its goals."""
    for name in sorted([file.stem for file in WORKLOADS.glob("*.toml")] + list(page.ELSEWHERE)):
        other, most = RATIOS.get(name, ("b", None))
        pairs = [(once(program, other), once(program, name)) for _ in range(TURNS)]
        runs = [run for _, run in pairs]
        best = min(runs, key=lambda run: run.nanoseconds)
        row = {
            "workload": name,
            "ns": best.per_packet,
            "events": best.events / best.packets,
            "memory": max(run.memory for run in runs) / 1000,
        }
        goals = []
        if most is not None:
            ratio = median(run.per_packet / base.per_packet for base, run in pairs)
            what = f"{name} to {other}: cost per packet{' on a link' if name in ON_LINKS else ''}"
            goals.append(goal(what, ratio, "", most))
        if name in MEMORY:
            goals.append(goal(f"{name}: memory", row["memory"], "MB", MEMORY[name]))
        yield row, goals


def goal(what: str, value: float, unit: str, most: float | None) -> kept.Measured:
    """A row of the table."""
    return {"what": what, "measured": value, "unit": unit, "goal": most}


def instructions(program: str) -> Iterator[kept.Measured]:
    """Instructions per packet of what is counted, where valgrind is installed."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: no instructions are counted", file=sys.stderr)
        return
    for name, (seconds, most) in INSTRUCTIONS.items():
        with changed(name, seconds) as short:
            counts, packets = counted(program, short)
        what = f"{name}, {seconds} s: instructions per packet"
        yield goal(what, counts.total() / packets, "", most)


def added(program: str) -> kept.Measured:
    """What ``sojourn run`` adds, figures included: the median of some runs in turns."""
    command = [sys.executable, "-m", "sojourn", "run", scenario(COMMANDED), "--out"]

    def whole() -> float:
        before = os.times()
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(
                [*command, directory], env=compiled(), check=True, stdout=subprocess.DEVNULL
            )
        after = os.times()
        user = after.children_user - before.children_user
        return user + after.children_system - before.children_system

    seconds = median(whole() - once(program, COMMANDED).nanoseconds / 1e9 for _ in range(3))
    return goal(f"{COMMANDED}: processor time that `sojourn run` adds", seconds, "s", ADDED)


def moved(rows: list[kept.Measured]) -> None:
    """Says what is another than what is stored by more than one percent."""
    before = {row["what"]: float(row["measured"]) for row in kept.rows(page.NAME, page.GOALS)}
    for row in rows:
        now, then = float(row["measured"] or 0), before.get(str(row["what"]))
        if then is None:
            told = "not stored"
        else:
            told = f"{now / then - 1:+.1%}" if abs(now / then - 1) > 0.01 else "as stored"
        print(f"{row['what']}: {now:,.0f} ({told})")


def main(only: list[str]) -> None:
    """Measures all of it, or counts the instructions alone."""
    program = binary()
    counts = list(instructions(program))
    if only == ["instructions"]:
        return moved(counts)
    rows, goals = [], []
    for row, more in measured(program):
        rows.append(row)
        goals += more
    goals = [*counts, *goals, added(program)]
    kept.store(page.NAME, COMMAND, {page.WORKLOADS: rows, page.GOALS: goals})
    kept.put(page.NAME, page.page())
    print(page.goals())


if __name__ == "__main__":
    main(sys.argv[1:])
