"""What the command line adds to a run, and how a sweep uses two cores. Wall time, best of some."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sojourn.engine import simulate
from sojourn.scenario import load

WORKLOAD = Path(__file__).parent.parent / "experiments" / "speed" / "b.toml"
REPETITIONS = 3
SWEEP = "\n[sweep]\nreplications = 16\n"


def sojourn(*arguments: str) -> None:
    """Runs the command."""
    command = [sys.executable, "-m", "sojourn", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(action: Callable[[], object]) -> float:
    """The shortest wall time of some repetitions."""

    def once() -> float:
        began = time.perf_counter()
        action()
        return time.perf_counter() - began

    return min(once() for _ in range(REPETITIONS))


def run_once() -> None:
    """``sojourn run`` into an empty directory."""
    with tempfile.TemporaryDirectory() as directory:
        sojourn("run", str(WORKLOAD), "--out", directory)


def sweep(jobs: int) -> float:
    """Wall time of sixteen equal runs of the workload, ``jobs`` at a time."""

    def once() -> None:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "sweep.toml"
            file.write_text(WORKLOAD.read_text() + SWEEP)
            sojourn("sweep", str(file), "--jobs", str(jobs), "--out", directory + "/out")

    return seconds(once)


def main() -> None:
    """Prints both."""
    canonical = load(WORKLOAD.read_text()).canonical
    core, whole = seconds(lambda: simulate(canonical)), seconds(run_once)
    print(f"sojourn run: {whole:.2f} s, of which the core {core:.2f} s (goal: adds under 0.5 s)")
    one, two = sweep(1), sweep(2)
    print(f"sojourn sweep: {one:.2f} s with one job, {two:.2f} s with two:", end=" ")
    print(f"{two / one:.2f} of it (goal: 0.55)")


if __name__ == "__main__":
    main()
