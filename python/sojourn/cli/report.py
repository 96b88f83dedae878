"""``sojourn report``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.options import out_option
from sojourn.cli.output import give
from sojourn.cli.units import Location
from sojourn.errors import ScenarioError


@click.command("report")
@click.argument("directory", type=Location(), metavar="DIR")
@out_option
def command(directory: Path, out: Path | None) -> None:
    """Write a static HTML report of a result directory."""
    from sojourn.report import report
    from sojourn.store import manifest
    from sojourn.store.place import check_writable

    manifest.read(directory)
    if out is not None and out.resolve() != directory.resolve() and (out / manifest.FILE).exists():
        raise ScenarioError(f"--out {out}: holds other results; give another directory")
    check_writable(out or directory, f"--out {out}" if out else str(directory))
    give(str(report(directory, out)))
