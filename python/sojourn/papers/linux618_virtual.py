"""Kernels in real and in virtual time: the lossless single flows of Linux 6.18's grid, run again.

``make compare-live`` writes a row per value, and counts what is within the goals that simulator
and kernel in virtual time have with each other. Until all runs are made, what they gave is beside
the table, so that an interrupted comparison is continued.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.backends.kernel import On
from sojourn.errors import ScenarioError
from sojourn.papers.linux612_goals import meets_goal
from sojourn.papers.linux618 import scenario
from sojourn.papers.linux618_kernel import KEYS, METRICS, SETUP, Spread, kernel
from sojourn.papers.linux618_work import command, do
from sojourn.scenario import Scenario, validated
from sojourn.sweeps.work import run_key

COMPARED = ("goodput", "mean_srtt", "retrans")
COLUMNS = (*SETUP, "metric", "live", "virtual", "difference", "within")
Row = dict[str, Any]
_Cell = tuple[Row, dict[str, Spread]]


def cells(duration: str | None) -> Iterator[_Cell]:
    """Setups of one flow without loss, for ``duration`` seconds if given; what was measured."""
    for key, values in kernel().items():
        setup = dict(zip(KEYS, key, strict=True))
        if "," not in setup["flows"] and float(setup["loss"]) == 0:
            ours = {name: setup[name] for name in SETUP}
            yield ours | ({"duration_s": duration} if duration else {}), values


def single(setup: Row) -> Scenario:
    """The scenario of a setup, once."""
    document = scenario(setup)
    del document["sweep"]
    return validated(document)


def compare(on: On, setup: Row, live: dict[str, Spread]) -> list[Row]:
    """The rows of a setup."""
    wanted = [METRICS[name] for name in COMPARED]
    flow = on.run(single(setup)).request(wanted).flows.row(0, named=True)
    return [_row(setup, name, live[name].mean, flow[METRICS[name]]) for name in COMPARED]


class Kept:
    """The rows of the runs of a comparison that is under way, a line of JSON each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: By what tells a run from others.
        self.rows: dict[str, list[Row]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            with suppress(ValueError):  # it is empty, or whoever wrote it was killed
                key, rows = json.loads(line)
                self.rows[key] = rows

    def add(self, key: str, rows: list[Row]) -> None:
        """Takes the rows of a run, and writes them."""
        self.rows[key] = rows
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps([key, rows])}")  # apart from what was cut off

    def remove(self) -> None:
        """When they are in the table."""
        self._path.unlink(missing_ok=True)


def _row(setup: Row, metric: str, live: float, virtual: float) -> Row:
    compared = {"metric": metric, "published": live, "measured": virtual}
    difference = (virtual - live) / live if live else None
    return {
        **setup,
        "metric": metric,
        "live": f"{live:.6g}",
        "virtual": f"{virtual:.6g}",
        "difference": "" if difference is None else f"{difference:+.2%}",
        "within": "yes" if meets_goal(compared) else "no",
    }


def compared(on: On, wanted: Sequence[_Cell], part: Path, jobs: int) -> list[Row]:
    """The rows of all cells in their order; those of the runs that ``part`` has are not made anew,
    and it is gone when all are.
    """
    kept = Kept(part)
    keys = [run_key(single(setup).canonical, on.key()) for setup, _ in wanted]
    cells = dict(zip(keys, wanted, strict=True))

    def take(done: tuple[str, list[Row]]) -> None:
        kept.add(*done)
        print(f"{len(kept.rows.keys() & cells)}/{len(wanted)}", file=sys.stderr, flush=True)

    left = [key for key in keys if key not in kept.rows]
    do(left, lambda key: (key, compare(on, *cells[key])), take, jobs)
    kept.remove()
    return [row for key in keys for row in kept.rows[key]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cells and writes the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--kernel", default="6.12", metavar="NAME", help="which one (default: 6.12)"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="runs at once (default: 1)"
    )
    parser.add_argument("--cca", metavar="NAME", help="flows of one control only")
    parser.add_argument(
        "--duration", metavar="S", help="shorter runs than the measured ones, to look at it"
    )
    parser.add_argument("--out", type=Path, default=Path("results/linux618-virtual.csv"))
    given = parser.parse_args(arguments)
    on = On(given.kernel)
    wanted = [cell for cell in cells(given.duration) if given.cca in (None, cell[0]["flows"])]
    if not wanted:
        raise ScenarioError(f"--cca: no cells of '{given.cca}'; there are: reno, cubic, bbr")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    rows = compared(on, wanted, given.out.with_name(f"{given.out.name}.part"), given.jobs)
    with given.out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for name in COMPARED:
        within = [row["within"] == "yes" for row in rows if row["metric"] == name]
        print(f"{name}: {sum(within)} of {len(within)} within")
    print(f"written: {given.out}")
    return 0


if __name__ == "__main__":
    command(main)
