"""Kernels in real and in virtual time: the lossless single flows of Linux 6.18's grid, run again.

``make compare-live`` writes a row per value, and counts what is within the goals that simulator
and kernel in virtual time have with each other. Runs are stored in a directory beside the table, so
that an interrupted comparison is continued.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sojourn.backends.kernel import On
from sojourn.campaign.cases import Case, Outcome
from sojourn.campaign.run import run
from sojourn.errors import ScenarioError
from sojourn.interruption import deferred
from sojourn.oracles.linux612.goals import meets_goal
from sojourn.oracles.linux618 import scenario
from sojourn.oracles.linux618.kernel import KEYS, METRICS, SETUP, Spread, kernel
from sojourn.scenario import Scenario, validated
from tools.kernel_tables import command

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


def compare(setup: Row, live: dict[str, Spread], outcome: Outcome) -> list[Row]:
    """The rows of a setup."""
    flow = outcome["flows"][0]["metrics"]
    return [_row(setup, name, live[name].mean, flow[METRICS[name]]) for name in COMPARED]


def _row(setup: Row, metric: str, live: float, virtual: float | None) -> Row:
    compared = {"metric": metric, "published": live, "measured": virtual}
    difference = (virtual - live) / live if live and virtual is not None else None
    return {
        **setup,
        "metric": metric,
        "live": f"{live:.6g}",
        "virtual": "" if virtual is None else f"{virtual:.6g}",
        "difference": "" if difference is None else f"{difference:+.2%}",
        "within": "yes" if virtual is not None and meets_goal(compared) else "no",
    }


def compared(on: On, wanted: Sequence[_Cell], directory: Path, jobs: int) -> list[Row]:
    """The rows of all cells in their order; runs that the directory has are not made anew."""
    cases = [Case.of(single(setup).canonical, on.name) for setup, _ in wanted]
    with deferred():
        results = run(cases, directory, jobs, _tell)
    told = zip(cases, wanted, strict=True)
    return [row for case, cell in told for row in compare(*cell, results[case])]


def _tell(done: int, total: int) -> None:
    print(f"{done}/{total}", file=sys.stderr, flush=True)


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
    runs = given.out.with_suffix("")
    runs.mkdir(parents=True, exist_ok=True)
    rows = compared(on, wanted, runs, given.jobs)
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
