"""``sojourn capacity``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn import literal
from sojourn.cli import tables
from sojourn.cli.options import force_option, format_option, out_option
from sojourn.cli.output import printed, say, warn
from sojourn.cli.progress import progress
from sojourn.errors import ScenarioError
from sojourn.quantity import split

if TYPE_CHECKING:
    from sojourn.capacity.network import Problem
    from sojourn.capacity.show import Document
    from sojourn.capacity.solve import Options, Solution

_PATH_COLUMNS = ("session", "to", "rate", "latency", "nodes", "tree")


@click.command("capacity")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--source", metavar="NODE", help="Where the session's traffic comes from.")
@click.option("--to", multiple=True, metavar="NODE", help="A destination. May be repeated.")
@click.option("--deadline", metavar="TIME", help="Longest latency of a path. Default: the file's.")
@click.option("--deadlines", metavar="LIST", help="A table over 30,40,50 or FROM:TO[:STEP].")
@click.option("--routing", is_flag=True, help="Without network coding: packets take trees.")
@click.option("--count/--no-count", default=True, show_default=True, help="Count the paths.")
@click.option("--memory", metavar="SIZE", default="2 GB", show_default=True, help="For counting.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Stop looking for better paths then, at each deadline.",
)
@click.option("--figures/--no-figures", default=True, show_default=True, help="Draw figures.")
@out_option
@force_option
@format_option
def command(
    file: Path,
    source: str | None,
    to: tuple[str, ...],
    deadline: str | None,
    deadlines: str | None,
    routing: bool,
    count: bool,
    memory: str,
    seconds: float,
    figures: bool,
    out: Path | None,
    force: bool,
    output: str,
) -> None:
    """The greatest rate within a deadline: of a graph in TOML or of a scenario's topology."""
    from sojourn.capacity.diagram import Limits
    from sojourn.capacity.read import problem as read
    from sojourn.capacity.results import tenant
    from sojourn.capacity.solve import Options
    from sojourn.experiments import located
    from sojourn.store.place import claimed

    if deadline is not None and deadlines is not None:
        raise ScenarioError("--deadlines: given beside --deadline; give one or the other")
    problem = read(located(file), source, to, deadline)
    options = Options(routing, count, Limits(_bytes(memory)), seconds)
    with claimed(tenant(problem), out, warn, force=force) as claim:
        if deadlines is None:
            solutions = [_solved(problem, options, claim.work, figures)]
        else:
            solutions = _table(problem, deadlines, options, claim.work, figures)
    with printed():
        _print(solutions, output, one=deadlines is None)
    for note in dict.fromkeys(solution.note for solution in solutions if solution.note):
        warn(note)
    say(f"results: {claim.directory}", err=True)


def _bytes(text: str) -> int:
    value, unit = split(text)
    if unit != "B" or not value > 0:
        raise ScenarioError(
            f'--memory: {literal.given(text)} given; expected a size such as "2 GB"'
        )
    return int(value)


def _solved(problem: Problem, options: Options, out: Path, figures: bool) -> Solution:
    from sojourn.capacity.results import save
    from sojourn.capacity.solve import require_paths, solve

    require_paths(problem, problem.deadline)
    solution = solve(problem, problem.deadline, options)
    save(solution, out, figures=figures)
    return solution


def _table(
    problem: Problem, deadlines: str, options: Options, out: Path, figures: bool
) -> list[Solution]:
    from sojourn.capacity.deadlines import over, parse_deadlines
    from sojourn.capacity.results import save_table

    with progress("deadlines") as report:
        solutions = over(problem, parse_deadlines(deadlines, problem), options, report)
    save_table(solutions, out, figures=figures)
    return solutions


def _print(solutions: Sequence[Solution], output: str, *, one: bool) -> None:
    from sojourn.capacity.deadlines import row
    from sojourn.capacity.show import document

    content = document(solutions[0]) if one else [row(solution) for solution in solutions]
    if output == "json":
        click.echo(json.dumps(content))
    elif isinstance(content, list):
        _print_table(solutions[0].problem, content, output)
    elif output == "csv":
        rows = ({**p, "nodes": " ".join(map(str, p["nodes"]))} for p in content["paths"])
        tables.write_csv(_PATH_COLUMNS, rows)
    else:
        _print_solution(solutions[0].problem, content)


def _print_table(problem: Problem, rows: Sequence[Mapping[str, object]], output: str) -> None:
    if output == "csv":
        tables.write_csv(tuple(rows[0]), rows)
    else:
        header = [name.replace("_", " ") for name in rows[0]]
        tables.show(problem.name, header, [tuple(row.values()) for row in rows], words=0)


def _print_solution(problem: Problem, content: Document) -> None:
    summary: list[tuple[str, float | None]] = [
        *(("rate", content["rate"]), ("bound", content["bound"]), ("gap", content["gap"])),
        *((f"paths to {name}", count) for name, count in content["path_count"].items()),
    ]
    summary.append(("seconds", content["seconds"]))
    tables.show(problem.name, ("", problem.units.rate or "value"), summary)
    paths = [
        (str(p["to"]), p["rate"], p["latency"], " ".join(map(str, p["nodes"])))
        for p in content["paths"]
    ]
    tables.show("Paths", ("to", "rate", "latency", "nodes"), paths)
    loads = [(f"{x['from']} > {x['to']}", x["load"], x["capacity"]) for x in content["links"]]
    tables.show("Links", ("link", "load", "capacity"), loads)
