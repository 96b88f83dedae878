"""Extends the measured table of Linux 6.18 on this machine's kernel: ``make live-reference``.

Runs that the table has are left out, so that it can be stopped and continued; each row is written
when its run ends. A run with an invalid verdict is not written, and made again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from sojourn import data
from sojourn.backends import live
from sojourn.measured import Measured
from sojourn.oracles.linux618.cells import CellRun, cell_runs
from sojourn.oracles.linux618.table import append, present, rows, widen
from sojourn.scenario import validated
from tools.kernel_tables import command, do

TABLE = "reference/linux618/grid.csv"
#: Faster runs want the machine for themselves.
_ALONE_FROM = 100e6
_ATTEMPTS = 4


class Measurement:
    """Runs cells and writes what they give."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pending(self, wanted: Iterable[CellRun]) -> list[CellRun]:
        """The runs that the table does not have."""
        there = present(self.path)
        return [run for run in wanted if run.key not in there]

    def measure(self, wanted: Iterable[CellRun], jobs: int = 1) -> None:
        """Makes runs; writes those that are valid."""
        do(wanted, _run, self._take, jobs)

    def _take(self, done: tuple[CellRun, Measured]) -> None:
        run, result = done
        quality = result.origin["quality"]
        if quality["valid"]:
            append(self.path, rows(run, result))
        verdict = "valid" if quality["valid"] else f"INVALID: {'; '.join(quality['reasons'])}"
        print(f"{run.experiment} {run.changes} #{run.repetition + 1}: {verdict}", file=sys.stderr)

    def all(self, wanted: Sequence[CellRun], jobs: int) -> list[CellRun]:
        """Makes the runs, several side by side; those that stayed invalid."""
        for attempt in range(_ATTEMPTS):
            left = self.pending(wanted)
            if not left:
                break
            print(f"round {attempt + 1}: {len(left)} runs", file=sys.stderr)
            self.measure((run for run in left if run.rate < _ALONE_FROM), jobs)
            self.measure(run for run in left if run.rate >= _ALONE_FROM)
        return self.pending(wanted)


def _run(run: CellRun) -> tuple[CellRun, Measured]:
    return run, live.run(validated(run.canonical), repetition=run.repetition)


def main(arguments: Sequence[str] | None = None) -> int:
    """Extends the table; the number of runs that are still missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side (default: 2)")
    parser.add_argument("--only", metavar="EXPERIMENT", help="runs of one experiment only")
    parser.add_argument("--dry-run", action="store_true", help="say how many runs are missing")
    given = parser.parse_args(arguments)
    wanted = [run for run in cell_runs() if given.only in (None, run.experiment)]
    measurement = Measurement(data.checkout() / TABLE)
    if given.dry_run:
        left = measurement.pending(wanted)
        hours = sum(run.seconds for run in left) / 3600 / given.jobs
        print(f"{len(left)} of {len(wanted)} runs are missing; about {hours:.1f} h")
        return 0
    widen(measurement.path)
    left = measurement.all(wanted, given.jobs)
    print(f"{len(left)} runs are missing", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    command(main)
