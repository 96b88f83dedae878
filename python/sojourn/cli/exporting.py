"""``sojourn export``."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from sojourn.cli.output import say
from sojourn.cli.units import Location
from sojourn.errors import ScenarioError


@click.command("export")
@click.argument("directory", type=Location(), metavar="DIR")
@click.option(
    "--flent",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Throughput and RTTs for Flent, which wants FILE to end in .flent.gz.",
)
@click.option(
    "--mahimahi",
    type=(str, click.Path(path_type=Path)),
    metavar="LINK FILE",
    help="A trace of what LINK has delivered, one line per 1,500 bytes.",
)
def command(directory: Path, flent: Path | None, mahimahi: tuple[str, Path] | None) -> None:
    """Write files for other programs from a run's directory."""
    from sojourn.interchange import flent as for_flent
    from sojourn.interchange import mahimahi as for_mahimahi
    from sojourn.store import manifest, run_directory
    from sojourn.store.files import write_atomically

    if flent is None and mahimahi is None:
        raise ScenarioError("--flent FILE or --mahimahi LINK FILE: neither given")
    content = manifest.read(directory)
    if content["kind"] != run_directory.KIND:
        raise ScenarioError(f"{directory}: holds a {content['kind']}; give the directory of a run")
    run = run_directory.load(directory)
    files: dict[Path, bytes] = {}
    if flent is not None:
        when = (directory / manifest.FILE).stat().st_mtime
        files[flent] = for_flent.written(run, datetime.fromtimestamp(when, UTC))
    if mahimahi is not None:
        link, path = mahimahi
        files[path] = for_mahimahi.written(run, link).encode()
    for path, data in files.items():
        write_atomically(path, partial(_put, data))
        say(str(path))


def _put(data: bytes, path: Path) -> None:
    path.write_bytes(data)
