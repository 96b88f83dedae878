"""Ablations of a reproduction: its tables with a choice taken back, beside what is published.

``reproductions/PAPER/ablations.toml`` names each: what is ``set``, as ``--set`` has it, and the
``tables`` that are run with it. ``python -m tools.ablations PAPER`` runs all of them as one
campaign below ``--out``, where it goes on if it was interrupted, and writes ``comparison.csv``
there.
``make renew NAME=PAPER-ablations`` keeps that with the page.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn import installed
from sojourn.campaign.run import run
from sojourn.errors import ScenarioError
from sojourn.interruption import deferred
from sojourn.reproduction import compare
from sojourn.reproduction.entries import document, entries
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.reproduction.reproduce import COMPARISON, check
from sojourn.reproduction.statements import Row
from tools.kernel_tables import command

#: The file in a reproduction's folder, and the key column before those of its tables.
FILE, KEY = "ablations.toml", "ablation"


@dataclass(frozen=True)
class Ablation:
    """A choice of the set-up that is taken back."""

    name: str
    #: What is in its place, in words.
    what: str
    #: ``path=value`` each, as ``--set`` has it.
    set: Sequence[str]
    tables: Sequence[str]


def read(chosen: Paper, folder: Path) -> list[Ablation]:
    """Those of a reproduction in a folder, in order.

    Raises:
        ScenarioError: names file and entry of what is wrong, or the table that there is not.

    """
    path = folder / FILE
    found = list(entries(path, document(path), "ablations", Ablation))
    if not found:
        raise ScenarioError(f"{path}: has no [[ablations]]")
    for ablation in found:
        try:
            check(chosen, Request(ablation.tables))
        except ScenarioError as error:
            raise ScenarioError(f"{path}: {ablation.name}: {error}") from None
    return found


def cells(chosen: Paper, ablation: Ablation) -> Iterator[Cell]:
    """The cells of its tables as they are run, with the values that are printed of the set-up."""
    whole = Request(ablation.tables)
    printed = {tuple(cell.keys.values()): cell.published for cell in chosen.cells(whole)}
    for cell in chosen.cells(replace(whole, overrides=ablation.set)):
        yield replace(cell, published=printed.get(tuple(cell.keys.values())))


def measure(
    chosen: Paper, ablations: Sequence[Ablation], directory: Path, jobs: int
) -> Iterator[Row]:
    """The rows of all of them; runs that the directory has are not made anew."""
    asked = [(ablation.name, cell) for ablation in ablations for cell in cells(chosen, ablation)]
    cases = [case for _, cell in asked for group in cell.replications for case in group]
    with deferred():
        results = run(list(dict.fromkeys(cases)), directory, jobs, _tell)
    for name, cell in asked:
        yield {KEY: name, **compare.compare(cell, results)}


def _tell(done: int, total: int) -> None:
    print(f"{done}/{total}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the ablations of a reproduction and writes their comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="runs at once"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIRECTORY")
    given = parser.parse_args(arguments)
    chosen, folder = paper(given.paper), installed.folder(given.paper)
    assert folder, given.paper
    found = read(chosen, folder)
    given.out.mkdir(parents=True, exist_ok=True)
    rows = measure(chosen, found, given.out, given.jobs)
    compare.write(given.out / COMPARISON, (KEY, *chosen.keys), rows)
    return 0


if __name__ == "__main__":
    command(main)
