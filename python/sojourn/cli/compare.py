"""``sojourn compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.names import checked_metrics
from sojourn.cli.options import force_option, format_option, metrics_option, out_option
from sojourn.cli.output import printed, warn
from sojourn.cli.units import Location

if TYPE_CHECKING:
    from sojourn.evaluation.compare import Comparison

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
@metrics_option
@out_option
@force_option
@format_option
def command(
    a: Path,
    b: Path,
    margin: str,
    metrics: tuple[str, ...],
    out: Path | None,
    force: bool,
    output: str,
) -> None:
    """Compare A with B: directories of runs, of sweeps or of several of them. With --out, a page
    and a figure as well.
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
        with claimed(place.tenant(made.a, made.b), out, warn, force=force) as directory:
            place.save(made, directory, warn)
        click.echo(f"results: {out}", err=True)
    with printed():
        _show(made, output)


def _show(made: Comparison, output: str) -> None:
    if output == "json":
        click.echo(json.dumps(made.table.to_dicts()))
    elif output == "csv":
        click.echo(made.table.write_csv(), nl=False)
    else:
        _summary(made)


def _summary(made: Comparison) -> None:
    from sojourn.evaluation.compare import CHANGED, HEADER, WORDS, lines

    tables.say(made.sentence)
    changed = made.of(*CHANGED)
    if len(changed):
        more = f" ({_MOST} of {len(changed)}; --format csv has all)" if len(changed) > _MOST else ""
        tables.show(f"\nWhat changed most{more}", HEADER, lines(changed.head(_MOST)), words=WORDS)
    known = made.of("unsure").drop_nulls("more_runs")
    if len(known):
        row = known.sort("more_runs").row(0, named=True)
        member = f"{row['scope']} {row['id']}".strip()
        tables.say(
            f"Next to be decided: {row['metric']} of {member}"
            f"{' at ' + row['point'] if row['point'] else ''}, probably by {row['more_runs']} "
            "more runs of each side."
        )
