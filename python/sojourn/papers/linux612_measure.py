"""Measures the table of Linux 6.12 on a kernel in virtual time: ``make kernel-reference``.

Runs that the table has are left out, so that it can be stopped and continued.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sojourn import data
from sojourn.backends.kernel import On
from sojourn.errors import ScenarioError, SojournError
from sojourn.papers.linux612_table import FOLDER, TABLE, append, read, rows
from sojourn.papers.linux618_cells import CellRun, cell_runs
from sojourn.scenario import validated


def missing(only: str | None) -> list[CellRun]:
    """The runs of an experiment, or of all, that the table does not have."""
    there = {(row["experiment"], row["changes"]) for row in read(data.checkout() / TABLE)}
    wanted = (run for run in cell_runs(FOLDER) if only in (None, run.experiment))
    return [run for run in wanted if run.key[:2] not in there]


def main(arguments: Sequence[str] | None = None) -> int:
    """Extends the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="EXPERIMENT", help="runs of one experiment only")
    parser.add_argument("--kernel", default="6.12", help="which one (default: 6.12)")
    parser.add_argument("--dry-run", action="store_true", help="say how many runs are missing")
    given = parser.parse_args(arguments)
    left = missing(given.only)
    print(f"{len(left)} runs are missing", file=sys.stderr)
    if given.dry_run:
        return 0
    backend = On(given.kernel)
    for number, run in enumerate(left, start=1):
        result = backend.run(validated(run.canonical))
        append(data.checkout() / TABLE, rows(run, result))
        wall = result.timing["wall_seconds"]
        print(f"{number}/{len(left)} {run.experiment} {run.changes}: {wall:.1f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (SojournError, ScenarioError) as error:
        sys.exit(f"sojourn: {error}")
