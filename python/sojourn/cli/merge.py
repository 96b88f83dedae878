"""``sojourn merge``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.output import say, warn
from sojourn.cli.units import Location


@click.command("merge")
@click.argument("directories", nargs=-1, required=True, type=Location())
@click.option(
    "--out",
    type=Location(),
    metavar="DIR",
    required=True,
    help="Where the united results go; what is there stays.",
)
def command(directories: tuple[Path, ...], out: Path) -> None:
    """Unite the results of a sweep that was run in parts with --shard."""
    from sojourn.sweeps import table
    from sojourn.sweeps.merge import merge

    merged = merge(directories, out, warn)
    long = table.summary(out)
    if len(long):
        table.save(long, out)
    say(
        f"{merged.stored} of {merged.total} runs stored, {merged.failed} failed; results: {out}",
        err=True,
    )
    if merged.stored < merged.total:
        missing = merged.total - merged.stored
        warn(f"{missing} runs are missing: sojourn sweep FILE --out {out} runs them")
