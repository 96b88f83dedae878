"""``sojourn reproduce``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.options import format_option, jobs_option, out_option, set_option
from sojourn.cli.progress import progress

if TYPE_CHECKING:
    from sojourn.papers.reproduce import Reproduction


@click.command("reproduce")
@click.argument("paper")
@click.option("--table", "table", multiple=True, metavar="ID", help="Only this table.")
@click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only cells with this key.")
@click.option(
    "--quick", is_flag=True, help="Fewer cells or replications, as the paper's notes say."
)
@set_option
@jobs_option
@out_option
@format_option
def command(
    paper: str,
    table: tuple[str, ...],
    where: tuple[str, ...],
    quick: bool,
    overrides: tuple[str, ...],
    jobs: int,
    out: Path | None,
    output: str,
) -> None:
    """Run a published evaluation; print published and measured side by side."""
    from sojourn.papers.compare import VALUES
    from sojourn.papers.paper import Request
    from sojourn.papers.reproduce import paper as find
    from sojourn.papers.reproduce import parse_where, reproduce

    chosen = find(paper)
    request = Request(table, parse_where(where), quick, overrides)
    directory = out or Path("results") / chosen.name
    with progress("runs") as report:
        reproduction = reproduce(chosen, request, directory, jobs, report)
    if output == "json":
        click.echo(json.dumps(reproduction.rows))
    elif output == "csv":
        tables.write_csv((*chosen.keys, *VALUES), reproduction.rows)
    else:
        _table(reproduction)
    click.echo(f"comparison: {directory / 'comparison.csv'}", err=True)


def _table(reproduction: Reproduction) -> None:
    paper = reproduction.paper
    click.echo(f"{paper.title}\n")
    for sheet in reproduction.sheets:
        tables.show(sheet.title, sheet.header, sheet.rows, words=sheet.words)
    click.echo("Set-up:")
    for choice in paper.choices:
        click.echo(f"  {choice}")
