"""``sojourn import``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.options import force_option, out_option
from sojourn.cli.output import printed, say, warn


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--interval",
    default="100 ms",
    show_default=True,
    metavar="TIME",
    help="How long a sample is.",
)
@click.option(
    "--rate", metavar="RATE", help="Of the bottleneck, such as 10 Mbit/s, if it is known."
)
@out_option
@force_option
def command(file: Path, interval: str, rate: str | None, out: Path | None, force: bool) -> None:
    """Make a result directory of FILE, which holds what was measured elsewhere: packets (.pcapng,
    .pcap), events (.sqlog, .qlog), or results of Flent (.flent.gz). Report, plot and compare take
    it as a run.
    """
    from sojourn.cli.show_run import summarise
    from sojourn.interchange.files import read
    from sojourn.interchange.observed import Asked
    from sojourn.store import run_directory
    from sojourn.store.place import claimed

    imported = read(Asked(file, interval, rate))
    result = imported.result
    for note in imported.notes:
        warn(f"{file}: {note}")
    tenant = run_directory.tenant(result.scenario, result.origin)
    with claimed(tenant, out, warn, force=force) as claim:
        run_directory.save(result, claim.work)
        with printed():
            summarise(result)
        say(f"results: {claim.directory}", err=True)
