"""The rate over deadlines: a table as the GNAT report prints it, and its curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from sojourn.capacity.network import Problem
from sojourn.capacity.parse import moment
from sojourn.capacity.read import bare
from sojourn.capacity.show import path_count, plain
from sojourn.capacity.solve import Options, Solution, solve
from sojourn.errors import ScenarioError
from sojourn.figures.chart import PALETTE, Chart, Line, Panel

Progress = Callable[[int, int], None]
#: Deadlines in one command.
_MOST = 10_000


def parse_deadlines(text: str, problem: Problem) -> list[Fraction]:
    """``30,40,50`` or ``FROM:TO[:STEP]``, or both."""
    found: list[Fraction] = []
    for part in text.split(","):
        times = [moment(bare(piece.strip()), problem.units) for piece in part.split(":")]
        if len(times) == 1:
            found += times
        else:
            found += _range(part, times)
    return sorted(set(found))


def _range(text: str, times: Sequence[Fraction]) -> list[Fraction]:
    first, last, step = times if len(times) == 3 else (*times, Fraction(1))
    if len(times) > 3 or step <= 0 or first > last or (last - first) / step > _MOST:
        raise ScenarioError(f"--deadlines {text}: expected FROM:TO or FROM:TO:STEP, rising")
    return [first + step * index for index in range(int((last - first) / step) + 1)]


def over(
    problem: Problem,
    deadlines: Sequence[Fraction],
    options: Options,
    progress: Progress = lambda done, total: None,
) -> list[Solution]:
    """A solution per deadline; its rate is 0 where the deadline is too short."""
    found: list[Solution] = []
    for deadline in deadlines:
        progress(len(found), len(deadlines))
        found.append(solve(problem, deadline, options))
    progress(len(found), len(deadlines))
    return found


def row(solution: Solution) -> dict[str, float | None]:
    """A row of the table."""
    paths = solution.diagrams.paths
    cells: dict[str, float | None] = {"deadline": plain(float(solution.deadline or 0))}
    for pair, name in solution.problem.pair_names().items():
        cells[f"paths_to_{name}"] = path_count(solution)[name]
        cells[f"seconds_to_{name}"] = paths[pair].seconds if pair in paths else None
    cells |= {"lp_seconds": solution.program_seconds, "seconds": solution.seconds}
    return {**cells, "rate": solution.rate, "bound": solution.bound, "gap": solution.gap}


def chart(solutions: Sequence[Solution]) -> Chart:
    """The rate over the deadline."""
    units = solutions[0].problem.units
    deadlines = [float(solution.deadline or 0) for solution in solutions]
    curve = Line("", deadlines, [s.rate for s in solutions], PALETTE[0], style="step")
    panel = Panel(_label("Deadline", units.time), _label("Rate", units.rate), [curve])
    return Chart("Rate over deadline", "The greatest rate that meets each deadline.", [panel])


def _label(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
