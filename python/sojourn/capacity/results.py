"""The directory of a network's capacity: solutions, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from csv import DictWriter
from math import isfinite
from pathlib import Path
from typing import TypedDict

from sojourn.capacity import deadlines, picture
from sojourn.capacity.network import Name, Problem
from sojourn.capacity.show import document, plain
from sojourn.capacity.solve import Solution
from sojourn.figures import paper
from sojourn.store import manifest
from sojourn.store.difference import difference
from sojourn.store.files import write_atomically, write_json
from sojourn.store.layout import clear_derived
from sojourn.store.place import Tenant

KIND = "capacity"
FIGURES = "figures"
#: A direction of a link, as the manifest names it.
_Link = TypedDict("_Link", {"from": Name, "to": Name, "capacity": float | None, "latency": float})


def tenant(problem: Problem) -> Tenant:
    """A directory holds what one network can carry, whatever the sessions and deadlines."""
    identity = {"links": _links(problem)}

    def differs(found: manifest.Manifest) -> str:
        return difference(found["links"], identity["links"])

    return Tenant(KIND, problem.name, problem.name, identity, differs)


def _links(problem: Problem) -> list[_Link]:
    names, steps = problem.network.names, problem.network.steps
    return [
        {
            "from": names[arc.tail],
            "to": names[arc.head],
            "capacity": plain(arc.capacity) if isfinite(arc.capacity) else None,
            "latency": plain(arc.latency / steps),
        }
        for arc in problem.network.arcs
    ]


def save(solution: Solution, directory: Path, *, figures: bool) -> None:
    """Writes a solution and its picture."""
    write_atomically(directory / "capacity.json", lambda path: write_json(document(solution), path))
    _finish(solution.problem, directory)
    if figures:
        picture.save(solution, directory / FIGURES)


def save_table(solutions: Sequence[Solution], directory: Path, *, figures: bool) -> None:
    """Writes a table over deadlines and its curve."""
    rows = [deadlines.row(solution) for solution in solutions]

    def fill(path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = DictWriter(file, tuple(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    write_atomically(directory / "deadlines.csv", fill)
    _finish(solutions[0].problem, directory)
    if figures:
        paper.save(deadlines.chart(solutions), directory / FIGURES, "rate-over-deadline")


def _finish(problem: Problem, directory: Path) -> None:
    manifest.write(directory, KIND, tenant(problem).identity)
    clear_derived(directory)
