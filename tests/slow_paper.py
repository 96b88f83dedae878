"""A paper for tests: of two computed cases, which are done alone, the second one outlasts the test.
As a program this is the command line with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date
from importlib.metadata import EntryPoint

from sojourn.campaign.cases import Computed
from sojourn.installed import REPRODUCTIONS, points
from sojourn.reproduction.card import Card
from sojourn.reproduction.paper import Cell, Paper, Request


def computed(seconds: float) -> float:
    """Takes so long, without a look at anything else."""
    time.sleep(seconds)
    return seconds


def _cells(_request: Request) -> Iterator[Cell]:
    for seconds in (0, 600):
        case = Computed.of(computed, alone=True, seconds=seconds)
        yield Cell({"seconds": str(seconds)}, None, [(case,)], float)


SLOW = Paper("slow", "slow", ("seconds",), ("seconds",), (), Card(date(2026, 11, 25)), _cells, ())


def main() -> None:
    """Runs the command line."""
    from sojourn.cli import main

    points(REPRODUCTIONS)["slow"] = EntryPoint("slow", f"{__name__}:SLOW", REPRODUCTIONS)
    main()
