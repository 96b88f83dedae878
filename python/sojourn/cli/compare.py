"""``sojourn compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.names import checked_metrics
from sojourn.cli.options import force_option, format_option, metrics_option, out_option
from sojourn.cli.output import give, printed, say, warn
from sojourn.cli.units import Location

if TYPE_CHECKING:
    from sojourn.evaluation.compare import Comparison
    from sojourn.evaluation.families import Family

#: So many lines of a table are printed.
_MOST = 30


@click.command("compare")
@click.argument("a", type=Location())
@click.argument("b", type=Location())
@click.option(
    "--margin",
    default="2 %",
    show_default=True,
    metavar="SHARE",
    help="Means that differ by less, of B's, are the same.",
)
@click.option("--all", "every", is_flag=True, help="Show the other metrics too, and every row.")
@metrics_option
@out_option
@force_option
@format_option
def command(
    a: Path,
    b: Path,
    margin: str,
    every: bool,
    metrics: tuple[str, ...],
    out: Path | None,
    force: bool,
    output: str,
) -> None:
    """Compare A with B: directories of runs, of sweeps or of several of them. Shows key metrics,
    which are judged apart from the others. With --out, a page and a figure as well.
    """
    from sojourn.evaluation import directory as place
    from sojourn.evaluation.compare import compare
    from sojourn.evaluation.margins import relative
    from sojourn.store.place import claimed

    relative(margin, "--margin")
    made = compare(a, b, margin=margin, names=checked_metrics("--metrics", metrics) or None)
    for note in made.notes:
        warn(note)
    if out is not None:
        from sojourn.report import report

        with claimed(place.tenant(made.a, made.b), out, warn, force=force) as claim:
            place.save(made, claim.work, warn)
            report(claim.work)
        say(f"results: {out}", err=True)
    with printed():
        _show(made, output, every=every)


def _show(made: Comparison, output: str, *, every: bool) -> None:
    if output == "json":
        click.echo(json.dumps(made.table.to_dicts()))
    elif output == "csv":
        from sojourn import csv_table

        give(csv_table.of_frame(made.table), nl=False)
    else:
        _tables(made, every=every)


def _tables(made: Comparison, *, every: bool) -> None:
    """Of the key metrics, or of all."""
    from sojourn.evaluation.compare import shown
    from sojourn.evaluation.families import CALLED, FAMILIES

    tables.say(f"{made.sentence}\n")
    for family in FAMILIES if every else FAMILIES[:1]:
        rows = made.family(family)
        most = len(rows) if every else _MOST
        more = f"; {most} of {len(rows)}, --all shows them all" if most < len(rows) else ""
        title = f"{CALLED[family].capitalize()} (difference ± 95 % confidence{more})"
        if len(rows):
            table = shown(rows.head(most), title)
            tables.show(table.title, table.header, table.rows, table.words)
            _say_next(made, family)


def _say_next(made: Comparison, family: Family) -> None:
    """Which comparison more runs would decide first."""
    row = made.next_decided(family)
    if row is None:
        return
    member = f"{row['scope']} {row['id']}".strip()
    tables.say(
        f"Next to be decided: {row['metric']} of {member}"
        f"{' at ' + row['point'] if row['point'] else ''}, probably by {row['more_runs']} "
        "more runs of each side."
    )
