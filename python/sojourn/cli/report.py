"""``sojourn report``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.options import out_option


@click.command("report")
@click.argument("directory", type=click.Path(path_type=Path), metavar="DIR")
@out_option
def command(directory: Path, out: Path | None) -> None:
    """Write a static HTML report of a result directory."""
    from sojourn.report import report

    click.echo(report(directory, out))
