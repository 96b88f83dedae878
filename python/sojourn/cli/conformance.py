"""``sojourn conformance``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.names import Name
from sojourn.cli.options import format_option, jobs_option, limit_options
from sojourn.cli.output import printed
from sojourn.cli.progress import progress

if TYPE_CHECKING:
    from sojourn.conformance.measure import Row

#: The kinds that have a suite.
KINDS = ("ccas", "queues", "transports", "nodes")


@click.command("conformance")
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option("--kind", type=Name("kind", KINDS), help="All of one kind.")
@jobs_option
@limit_options
@format_option
def command(names: tuple[str, ...], kind: str | None, jobs: int, output: str) -> int:
    """Put members through the conformance suite: all, or those that are named.

    NAME is a congestion control, a queue discipline, a transport or a kind of node, or a table
    such as '{ kind = "cubic", beta = 0.8 }'; FILE brings a control along: FILE.py, FILE.py:CLASS,
    FILE.so, or a scenario with one. Exit status 1 if something fails that is no known exception.
    """
    from sojourn.conformance.measure import rows
    from sojourn.conformance.subjects import chosen

    subjects = chosen(names, kind)
    with progress("checks") as report:
        found = rows(subjects, jobs, report)
    with printed():
        _show(found, output)
    return int(any(row.verdict in ("fails", "error") for row in found))


def _show(found: Sequence[Row], output: str) -> None:
    from sojourn.conformance.measure import COLUMNS

    if output == "json":
        click.echo(json.dumps([row.cells() for row in found]))
    elif output == "csv":
        tables.write_csv(COLUMNS, [row.cells() for row in found])
    else:
        for kind in dict.fromkeys(row.kind for row in found):
            _table(kind, [row for row in found if row.kind == kind])


def _table(kind: str, found: Sequence[Row]) -> None:
    """Members by checks, then what is not as required."""
    checks = list(dict.fromkeys(row.check.name for row in found))
    members: dict[str, dict[str, float | str | None]] = {}
    for row in found:
        value = "error" if row.value is None else row.value
        members.setdefault(row.name, {})[row.check.name] = value
    lines = [(name, *(values[check] for check in checks)) for name, values in members.items()]
    tables.show(kind.capitalize(), ("name", *checks), lines)
    for row in found:
        if row.verdict != "holds":
            note = row.note or row.check.legend
            tables.say(f"{row.verdict}: {row.name}, {row.check.name}: {note}")
