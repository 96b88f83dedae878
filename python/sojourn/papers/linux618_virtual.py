"""Kernels in real and in virtual time: the lossless single flows of Linux 6.18's grid, run again.

``make compare-live`` writes a row per value, and counts what is within the goals that simulator
and kernel in virtual time have with each other.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sojourn.backends.kernel import On
from sojourn.errors import ScenarioError, SojournError
from sojourn.papers.linux612_goals import meets_goal
from sojourn.papers.linux618 import scenario
from sojourn.papers.linux618_kernel import KEYS, METRICS, SETUP, Spread, kernel
from sojourn.scenario import validated

COMPARED = ("goodput", "mean_srtt", "retrans")
COLUMNS = (*SETUP, "metric", "live", "virtual", "difference", "within")
Row = dict[str, Any]


def cells(duration: str | None) -> Iterator[tuple[Row, dict[str, Spread]]]:
    """Setups of one flow without loss, for ``duration`` seconds if given; what was measured."""
    for key, values in kernel().items():
        setup = dict(zip(KEYS, key, strict=True))
        if "," not in setup["flows"] and float(setup["loss"]) == 0:
            ours = {name: setup[name] for name in SETUP}
            yield ours | ({"duration_s": duration} if duration else {}), values


def compare(on: On, setup: Row, live: dict[str, Spread]) -> list[Row]:
    """The rows of a setup."""
    document = scenario(setup)
    del document["sweep"]
    flow = (
        on.run(validated(document))
        .request([METRICS[name] for name in COMPARED])
        .flows.row(0, named=True)
    )
    return [_row(setup, name, live[name].mean, flow[METRICS[name]]) for name in COMPARED]


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
    rows: list[Row] = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for found in pool.map(lambda cell: compare(on, *cell), wanted):
            rows += found
            print(f"{len(rows) // len(COMPARED)}/{len(wanted)}", file=sys.stderr, flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
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
    try:
        sys.exit(main())
    except (SojournError, ScenarioError) as error:
        sys.exit(f"sojourn: {error}")
