"""``sojourn capacity``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli import tables
from sojourn.cli.options import format_option, out_option
from sojourn.cli.progress import progress
from sojourn.errors import ScenarioError
from sojourn.quantity import split

if TYPE_CHECKING:
    from sojourn.capacity.network import Problem
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
@click.option("--memory", metavar="SIZE", default="2 GB", show_default=True, help="Of the count.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Stop looking for better paths, per deadline.",
)
@click.option("--figures/--no-figures", default=True, show_default=True, help="Draw figures.")
@out_option
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
    output: str,
) -> None:
    """The greatest rate within a deadline: of a graph in TOML or of a scenario's topology."""
    from sojourn.capacity.diagram import Limits
    from sojourn.capacity.read import problem as read
    from sojourn.capacity.solve import Options

    problem = read(file, source, to, deadline)
    options = Options(routing, count, Limits(_bytes(memory)), seconds)
    directory = out or Path("results") / problem.name
    if deadlines is None:
        _one(problem, options, directory, figures, output)
    elif deadline is not None:
        raise ScenarioError("--deadlines: given beside --deadline; give one or the other")
    else:
        _several(problem, deadlines, options, directory, figures, output)
    click.echo(f"results: {directory}", err=True)


def _bytes(text: str) -> int:
    value, unit = split(text)
    if unit != "B" or not value > 0:
        raise ScenarioError(f'--memory: {text!r} given; expected a size such as "2 GB"')
    return int(value)


def _one(problem: Problem, options: Options, out: Path, figures: bool, output: str) -> None:
    from sojourn.capacity.show import document
    from sojourn.capacity.solve import require_paths, solve

    require_paths(problem, problem.deadline)
    solution = solve(problem, problem.deadline, options)
    content = document(solution)
    out.mkdir(parents=True, exist_ok=True)
    (out / "capacity.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if figures:
        from sojourn.capacity import picture

        picture.save(solution, out / "figures")
    if output == "json":
        click.echo(json.dumps(content))
    elif output == "csv":
        rows = ({**p, "nodes": " ".join(map(str, p["nodes"]))} for p in content["paths"])
        tables.write_csv(_PATH_COLUMNS, rows)
    else:
        _show(problem, content)
    _notes([solution])


def _show(problem: Problem, content: Mapping[str, Any]) -> None:
    summary = [(key, content[key]) for key in ("rate", "bound", "gap")]
    summary += [(f"paths to {name}", count) for name, count in content["path_count"].items()]
    summary.append(("seconds", content["seconds"]))
    tables.show(problem.name, ("", problem.units.rate or "value"), summary)
    paths = [
        (str(p["to"]), p["rate"], p["latency"], " ".join(map(str, p["nodes"])))
        for p in content["paths"]
    ]
    tables.show("Paths", ("to", "rate", "latency", "nodes"), paths)
    loads = [(f"{x['from']} > {x['to']}", x["load"], x["capacity"]) for x in content["links"]]
    tables.show("Links", ("link", "load", "capacity"), loads)


def _several(
    problem: Problem, deadlines: str, options: Options, out: Path, figures: bool, output: str
) -> None:
    from sojourn.capacity.deadlines import chart, over, parse_deadlines, row

    with progress("deadlines") as report:
        solutions = over(problem, parse_deadlines(deadlines, problem), options, report)
    rows = [row(solution) for solution in solutions]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "deadlines.csv").open("w", newline="", encoding="utf-8") as file:
        tables.write_csv(tuple(rows[0]), rows, file)
    if figures:
        from sojourn.figures.paper import save

        save(chart(solutions), out / "figures", "rate-over-deadline")
    if output == "json":
        click.echo(json.dumps(rows))
    elif output == "csv":
        tables.write_csv(tuple(rows[0]), rows)
    else:
        header = [name.replace("_", " ") for name in rows[0]]
        tables.show(problem.name, header, [tuple(row.values()) for row in rows], words=0)
    _notes(solutions)


def _notes(solutions: Sequence[Solution]) -> None:
    for note in dict.fromkeys(solution.note for solution in solutions):
        if note:
            click.echo(f"note: {note}", err=True)
