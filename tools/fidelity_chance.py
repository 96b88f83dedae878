"""What chance alone does to ``sojourn fidelity``: a kernel in virtual time beside itself.

Where cells have several starts, their means are judged by the cells' own goals: those of the kernel
beside those of the kernel from as many other starts, and of the simulator from the same starts. As
many cells as the kernel beside itself misses, a simulator without a fault would miss from other
starts. ``--out`` may be what ``sojourn fidelity`` has left: its runs are not made anew.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from statsmodels.stats.proportion import proportion_confint

from sojourn.campaign.cases import Case, Outcome, Results
from sojourn.campaign.run import run
from sojourn.fidelity.asked import QUEUES, Asked
from sojourn.fidelity.campaign import reference
from sojourn.fidelity.draw import Cell, cells
from sojourn.fidelity.goals import goal
from sojourn.fidelity.judge import judged
from sojourn.interruption import deferred
from sojourn.scenario import load
from tools.kernel_tables import command

#: A side: its backend, and whether it has the later half of the starts.
Side = tuple[str, bool]


def _side(cell: Cell, side: Side) -> list[Case]:
    backend, later = side
    half = len(cell.starts) // 2
    starts = cell.starts[half:] if later else cell.starts[:half]
    return [Case.of(load(start).canonical, backend) for start in starts]


def within(
    asked: Asked, told: Results, drawn: Sequence[Cell], pair: tuple[Side, Side]
) -> list[bool]:
    """Of each cell whether one side is as the other."""

    def runs(cell: Cell, side: Side) -> list[Outcome]:
        return [told[case] for case in _side(cell, side)]

    return [
        judged(cell, goal(asked, cell), *(runs(cell, side) for side in pair)).is_within
        for cell in drawn
    ]


def _show(asked: Asked, told: Results, drawn: Sequence[Cell], kernel: str) -> None:
    for name, ours, theirs in (
        ("kernel beside itself, other starts", (kernel, True), (kernel, False)),
        ("sim beside kernel, other starts", ("sim", True), (kernel, False)),
        ("sim beside kernel, same starts", ("sim", False), (kernel, False)),
        ("sim beside kernel, the other starts both", ("sim", True), (kernel, True)),
    ):
        each = within(asked, told, drawn, (ours, theirs))
        low, high = proportion_confint(sum(each), len(each), method="wilson")
        print(f"{name}: {sum(each)} of {len(each)} within, {low:.1%} to {high:.1%}")


def _tell(done: int, total: int) -> None:
    print(f"{done}/{total}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cells and prints the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, required=True, metavar="N")
    parser.add_argument("--seed", type=int, required=True, metavar="S")
    parser.add_argument("--queue", choices=QUEUES, default="pie")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at once")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args(arguments)
    asked, kernel = Asked(given.cells, (given.seed,), queue=given.queue), reference()
    drawn = list(cells(asked, times=2))
    sides = [(backend, later) for backend in ("sim", kernel) for later in (False, True)]
    every = [case for cell in drawn for side in sides for case in _side(cell, side)]
    given.out.mkdir(parents=True, exist_ok=True)
    with deferred():
        told = run(every, given.out, given.jobs, _tell)
    _show(asked, told, drawn, kernel)
    return 0


if __name__ == "__main__":
    command(main)
