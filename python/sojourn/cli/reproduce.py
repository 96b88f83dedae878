"""``sojourn reproduce``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.options import (
    Workers,
    force_option,
    format_option,
    limit_options,
    out_option,
    set_option,
    workers_options,
)
from sojourn.cli.output import printed, say, warn
from sojourn.cli.progress import progress

if TYPE_CHECKING:
    from sojourn.reproduction.reproduce import Reproduction
    from sojourn.reproduction.sheet import Sheet


@click.command("reproduce")
@click.argument("paper")
@click.option("--table", "table", multiple=True, metavar="ID", help="Only this table.")
@click.option("--section", multiple=True, metavar="N.N", help="Only this section, all below it.")
@click.option("--chapter", multiple=True, metavar="N", help="Only this chapter.")
@click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only cells with this key.")
@click.option(
    "--quick", is_flag=True, help="Fewer cells or replications, as the paper's notes say."
)
@click.option(
    "--full", is_flag=True, help="The printed lengths where the evaluation shortens them."
)
@set_option
@workers_options
@out_option
@force_option
@limit_options
@format_option
def command(
    paper: str,
    table: tuple[str, ...],
    section: tuple[str, ...],
    chapter: tuple[str, ...],
    where: tuple[str, ...],
    quick: bool,
    full: bool,
    overrides: tuple[str, ...],
    workers: Workers,
    out: Path | None,
    force: bool,
    output: str,
) -> None:
    """Run a published evaluation; print published and measured side by side. What there is for
    PAPER, sojourn list papers tells.
    """
    from sojourn.reproduction.directory import tenant
    from sojourn.reproduction.found import paper as find
    from sojourn.reproduction.paper import Request
    from sojourn.reproduction.reproduce import check, parse_where, reproduce
    from sojourn.store.place import claimed

    chosen = find(paper)
    sections = (*section, *chapter)
    request = Request(table, parse_where(where), quick, overrides, full, sections)
    check(chosen, request)
    with (
        claimed(tenant(chosen, request), out, warn, force=force) as claim,
        workers.connected() as execute,
        progress("runs", claim.directory) as report,
    ):
        reproduction = reproduce(chosen, request, claim.work, workers.jobs, report, warn, execute)
    with printed():
        PRINTERS[output](reproduction)
    say(f"comparison: {claim.directory / 'comparison.csv'}", err=True)


def _json(reproduction: Reproduction) -> None:
    click.echo(json.dumps(reproduction.rows))


def _csv(reproduction: Reproduction) -> None:
    from sojourn.reproduction.compare import VALUES

    tables.write_csv((*reproduction.paper.keys, *VALUES), reproduction.rows)


def _table(reproduction: Reproduction) -> None:
    paper = reproduction.paper
    say(f"{paper.title}\n")
    for sheet in map(_shown, reproduction.sheets):
        tables.show(sheet.title, sheet.header, sheet.rows, words=sheet.words)
    say("Set-up:")
    for choice in reproduction.choices:
        say(f"  {choice}")


def _shown(sheet: Sheet) -> Sheet:
    from sojourn.reproduction import statements

    return statements.judged_alone(sheet) if sheet.name == statements.NAME else sheet


PRINTERS: dict[str, Callable[[Reproduction], None]] = {"table": _table, "json": _json, "csv": _csv}
