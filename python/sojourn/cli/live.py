"""``sojourn live``."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from sojourn.cli.options import force_option, out_option, set_option
from sojourn.cli.output import say, warn
from sojourn.cli.show_run import summarise
from sojourn.cli.source import scenario_of


@click.command("live", context_settings={"ignore_unknown_options": True})
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("line", nargs=-1, required=True, metavar="-- COMMAND...")
@click.option(
    "--download",
    is_flag=True,
    help="Put the bottleneck before the side that connects: what it gets back crosses it.",
)
@set_option
@out_option
@force_option
def command(
    file: Path,
    line: tuple[str, ...],
    download: bool,
    overrides: tuple[str, ...],
    out: Path | None,
    force: bool,
) -> None:
    """Run COMMAND in a private network namespace: its traffic to the address in SOJOURN_RECEIVER
    goes through the network of FILE and comes back to programs of the same COMMAND. Ends with its
    exit status, and ends what it left in the background; metrics of each connection go to DIR and,
    in short, to standard error.
    """
    from sojourn.backends.command import missed, run
    from sojourn.backends.live import key
    from sojourn.origin import distrust
    from sojourn.store import run_directory
    from sojourn.store.place import claimed

    scenario = scenario_of(file, overrides)
    done = run(scenario, line, download=download)
    for past in missed(done):
        warn(f"warning: {past}")
    if done.result is None:
        warn("the command sent nothing to SOJOURN_RECEIVER: there is nothing to store")
        sys.exit(done.status)
    for reason in distrust(done.result.origin):
        warn(reason)
    tenant = run_directory.tenant(done.result.scenario, key(0))
    with claimed(tenant, out, warn, force=force) as claim:
        run_directory.save(done.result, claim.work)
        with redirect_stdout(sys.stderr):  # standard output is the command's
            summarise(done.result)
        say(f"results: {claim.directory}", err=True)
    sys.exit(done.status)
