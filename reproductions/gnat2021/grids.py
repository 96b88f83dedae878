"""The greatest rate within a deadline on a grid, as section 2.3 tabulates it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib.util import find_spec

from sojourn.capacity.diagram import Limits
from sojourn.capacity.parse import parse
from sojourn.capacity.solve import Options, solve
from sojourn.scenario import Document

#: What fits no machine fits no limit of time; one that is busy has enough.
PATIENT = Limits(seconds=300)


def row(graph: Document, deadline: str) -> Mapping[str, float | None]:
    """The values of a row by the table's columns: paths, seconds that passed, the rate."""
    problem = parse(graph)
    solution = solve(problem, Fraction(deadline), Options(limits=PATIENT))
    if (failure := solution.diagrams.failure) and find_spec("graphillion"):
        raise RuntimeError(failure)
    a, b = (solution.diagrams.paths.get(pair) for pair in problem.pairs())
    return {
        "paths_to_a": a.count if a else None,
        "cpu_a": a.seconds if a else None,
        "paths_to_b": b.count if b else None,
        "cpu_b": b.seconds if b else None,
        "lp_cpu": solution.program_seconds,
        "total_cpu": solution.seconds,
        "rate": solution.rate,
    }
