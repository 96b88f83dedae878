"""Section 2.3: the greatest rate within a deadline, on an 8 x 8 and on a 5 x 5 grid.

The weights of the report's links are not published. The 8 x 8 grid here is drawn so that its
destinations have about as many paths at the loosest deadline; rates are therefore not comparable,
path counts and times are, but for the two counts at that deadline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

from sojourn import data
from sojourn.campaign.cases import Computed
from sojourn.errors import ScenarioError
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import GOALS, Finding, Row, Statement, all_complete
from sojourn.scenario import read
from sojourn_reproductions.gnat2021.grids import row as solved
from sojourn_reproductions.gnat2021.published import published

TABLE = "latency_constrained_multicast_8x8"
SECTION = "2.3"
_FOLDER, _TABULATED = "experiments/capacity", "grid-8x8"
#: Deadlines of the figure.
_CURVE = range(0, 86)
#: What the report says of grids in its text.
_GRIDS = "grid_paths"
_TIMES = 10
_TITLE = "8 x 8 grid, two destinations; it was drawn to the numbers of paths at 100"


def cells(request: Request) -> Iterator[Cell]:
    """Every value of the table."""
    if request.overrides:
        raise ScenarioError("--set: section 2.3 runs no scenario; sojourn capacity takes any graph")
    graph = {"name": _TABULATED, **read(data.path(f"{_FOLDER}/{_TABULATED}.toml"))}
    for printed in published(TABLE):
        case = Computed.of(solved, alone=True, graph=graph, deadline=printed["deadline"])
        for column, value in printed.items():
            if column != "deadline":
                keys = {"section": SECTION, "table": TABLE, "column": column}
                keys["row"] = f"deadline={printed['deadline']}"
                yield Cell(keys, float(value), [(case,)], itemgetter(column))


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """The report's table, published beside measured."""
    shown = {"paths_to_a": "paths to A", "paths_to_b": "paths to B", "total_cpu": "total (s)"}
    shown["rate"] = "rate"
    by_row: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_row.setdefault(row["row"], {})[row["column"]] = row
    header = ["deadline", *(f"{name}, {of}" for name in shown.values() for of in ("pub.", "here"))]
    lines = [
        [deadline.partition("=")[2], *_pairs(columns, shown)]
        for deadline, columns in by_row.items()
    ]
    yield Sheet(TABLE, _TITLE, header, lines)


def _pairs(columns: Mapping[str, Row], shown: Iterable[str]) -> Iterator[Any]:
    for column in shown:
        row = columns.get(column, {})
        for key in ("published", "measured"):
            value = row.get(key)
            yield int(value) if value is not None and value == int(value) else value


def charts(rows: Sequence[Row]) -> Mapping[str, Any]:
    """The rate over the deadline on the 5 x 5 grid, as the report draws it."""
    del rows
    from sojourn.capacity.deadlines import chart, over
    from sojourn.capacity.read import problem as problem_of
    from sojourn.capacity.solve import Options

    problem = problem_of(data.path(f"{_FOLDER}/grid-5x5.toml"))
    deadlines = [Fraction(deadline) for deadline in _CURVE]
    return {"rate-over-deadline-5x5": chart(over(problem, deadlines, Options(count=False)))}


def _levels_off(rows: Sequence[Row]) -> Finding:
    rates = _column(rows, "rate")
    numbers = ", ".join(f"{rate:g}" for rate in rates)
    return Finding(rates == sorted(rates) and rates[-1] == rates[-2], numbers)


def _paths_grow(rows: Sequence[Row]) -> Finding:
    ratios = [x[-1] / x[-2] for x in (_column(rows, "paths_to_a"), _column(rows, "paths_to_b"))]
    return Finding(min(ratios) > 2, f"{ratios[0]:.1f} and {ratios[1]:.1f} times")


def _column(rows: Sequence[Row], column: str) -> list[float]:
    """Measured values, the tightest deadline first."""
    found = all_complete(rows, len(published(TABLE)), table=TABLE, column=column)
    return [row["measured"] for row in reversed(found)]


def _nine_by_nine(rows: Sequence[Row]) -> Finding:
    from sojourn.capacity.diagram import count_paths
    from sojourn.capacity.draw import grid
    from sojourn_reproductions.gnat2021.grids import PATIENT

    all_complete(rows, 1, table=TABLE)
    pair = (0, 80)
    counted = count_paths(grid(9, 9, 0).network, [pair], float("inf"), PATIENT)
    if pair not in counted.paths:
        raise KeyError(counted.failure)
    count = counted.paths[pair].count
    [told] = [row["paths_above"] for row in published(_GRIDS) if row["rows"] == "9"]
    return Finding(count > int(told), f"{count:,} paths")


def _faster(rows: Sequence[Row]) -> Finding:
    found = all_complete(rows, len(published(TABLE)), table=TABLE, column="total_cpu")
    theirs, ours = (sum(row[key] for row in found) for key in ("published", "measured"))
    least = min(row["published"] / row["measured"] for row in found)
    numbers = f"{theirs:.1f} s and {ours:.2f} s: {theirs / ours:.0f} times; "
    return Finding(theirs >= _TIMES * ours, f"{numbers}least at one deadline {least:.0f}")


STATEMENTS = (
    Statement(
        "paths-9x9",
        SECTION,
        "Over 3 quadrillion paths join opposite corners of a 9 x 9 grid",
        "the diagram counts more",
        _nine_by_nine,
    ),
    Statement(
        "levels-off",
        SECTION,
        "The rate rises with the deadline to that without one and no further",
        "8 x 8 grid: it never falls, and is the same at the two loosest deadlines",
        _levels_off,
    ),
    Statement(
        "paths-grow",
        SECTION,
        "The number of paths grows steeply with the deadline",
        "more than twice as many to each destination at 100 as at 90",
        _paths_grow,
    ),
    Statement(
        "faster",
        GOALS,
        "The table takes a tenth of the report's time or less",
        "total times added up over the deadlines",
        _faster,
    ),
)
