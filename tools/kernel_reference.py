"""Measures the table of Linux 6.12 on a kernel in virtual time: ``make kernel-reference``.

Runs that the table has are left out, so that it can be stopped and continued. ``--kernel 6.1
--out FILE`` measures the same runs on another kernel, for a table of its own.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

from sojourn import data
from sojourn.backends.kernel import On
from sojourn.errors import ScenarioError
from sojourn.kernel.cache import kernels
from sojourn.measured import Measured
from sojourn.oracles.linux612.table import FOLDER, HZ, TABLE, append, read, rows
from sojourn.oracles.linux618.cells import CellRun, cell_runs
from sojourn.scenario import validated
from tools.kernel_tables import command, do


def missing(table: Path, only: str | None) -> list[CellRun]:
    """The runs of an experiment, or of all, that a table does not have."""
    there = {(row["experiment"], row["changes"]) for row in read(table)}
    wanted = (run for run in cell_runs(FOLDER) if only in (None, run.experiment))
    return [run for run in wanted if run.key[:2] not in there]


def _usual() -> str:
    """The kernel that ticks as often as that of 6.12's table; of a new table, as often as the
    simulator's stack.

    Raises:
        ScenarioError: if there is none.

    """
    there = read(data.checkout() / TABLE)
    hz = int(there[0]["hz"]) if there else HZ
    for kernel in kernels():
        if kernel.version.startswith("6.12.") and kernel.hz == hz:
            return kernel.name
    raise ScenarioError(f"to build one: sojourn kernel build linux-source-6.12 --hz {hz}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="EXPERIMENT", help="runs of one experiment only")
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        help="which one (default: the latest 6.12, with the table's ticks)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=data.checkout() / TABLE,
        metavar="FILE",
        help=f"which table (default: {TABLE})",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="runs at once (default: 1)"
    )
    parser.add_argument("--dry-run", action="store_true", help="say how many runs are missing")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Extends the table."""
    given = _parser().parse_args(arguments)
    left = missing(given.out, given.only)
    print(f"{len(left)} runs are missing", file=sys.stderr)
    if given.dry_run:
        return 0
    backend = On(given.kernel or _usual())
    given.out.parent.mkdir(parents=True, exist_ok=True)
    numbers = itertools.count(1)

    def measure(run: CellRun) -> tuple[CellRun, Measured]:
        return run, backend.run(validated(run.canonical))

    def take(done: tuple[CellRun, Measured]) -> None:
        run, result = done
        append(given.out, rows(run, result))
        wall = result.timing["wall_seconds"]
        told = f"{next(numbers)}/{len(left)} {run.experiment} {run.changes}: {wall:.1f} s"
        print(told, file=sys.stderr, flush=True)

    do(left, measure, take, given.jobs)
    return 0


if __name__ == "__main__":
    command(main)
