"""What the command line and records add to a run, and how a sweep uses two cores. Wall time, best
of some.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from sojourn.engine import measure, simulate
from sojourn.scenario import load

WORKLOAD = Path(__file__).parent.parent / "experiments" / "speed" / "b.toml"
REPETITIONS = 3
PAIRS = 15
#: Runs so long that the start of Python does not count.
SWEEP = "\n[sweep]\nreplications = 32\n"
LONG = ("--set", 'duration="300 s"')


def sojourn(*arguments: str) -> None:
    """Runs the command."""
    command = [sys.executable, "-m", "sojourn", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def once(action: Callable[[], object]) -> float:
    """The wall time of this, without letting go of what it makes."""
    began = time.perf_counter()
    made = action()
    took = time.perf_counter() - began
    del made
    return took


def seconds(action: Callable[[], object]) -> float:
    """The shortest of some repetitions."""
    return min(once(action) for _ in range(REPETITIONS))


def run_once(*options: str) -> None:
    """``sojourn run`` into an empty directory."""
    with tempfile.TemporaryDirectory() as directory:
        sojourn("run", str(WORKLOAD), "--out", directory, *options)


def recorded(kind: str) -> float:
    """Wall time of the workload in this process while that is recorded of it, to that of the plain
    one: the median of pairs in turns.
    """
    plain, with_it = (load(WORKLOAD.read_text(), [f"record = {k}"]) for k in ([], [kind]))
    pairs = ((once(partial(measure, s)) for s in (plain, with_it)) for _ in range(PAIRS))
    return median(after / before for before, after in pairs)


def sweep(jobs: int) -> float:
    """Wall time of 32 equal long runs of the workload, ``jobs`` at a time."""

    def once() -> None:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "sweep.toml"
            file.write_text(WORKLOAD.read_text() + SWEEP)
            out = ("--jobs", str(jobs), "--out", directory + "/out")
            sojourn("sweep", str(file), *LONG, *out)

    return seconds(once)


def main() -> None:
    """Prints all of it."""
    canonical = load(WORKLOAD.read_text()).canonical
    core = seconds(lambda: simulate(canonical))
    plain, whole = seconds(lambda: run_once("--no-figures")), seconds(run_once)
    print(
        f"the core: {core:.2f} s; sojourn run adds {plain - core:.2f} s (goal: under 0.5 s)", end=""
    )
    print(f" and {whole - plain:.2f} s for its figures")
    print(f"recorded: pcap {recorded('pcap'):.2f} of the run's time (goal: at most 2)", end=", ")
    print(f"qlog {recorded('qlog'):.2f}")
    one, two = sweep(1), sweep(2)
    print(f"sojourn sweep: {one:.2f} s with one job, {two:.2f} s with two:", end=" ")
    print(f"{two / one:.2f} of it (goal: 0.55)")


if __name__ == "__main__":
    main()
