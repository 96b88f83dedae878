"""``sojourn live``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sojourn.cli.backends import tell_quality
from sojourn.cli.options import force_option, out_option, set_option
from sojourn.cli.output import warn
from sojourn.cli.source import scenario_of


@click.command("live", context_settings={"ignore_unknown_options": True})
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("line", nargs=-1, required=True, metavar="-- COMMAND...")
@set_option
@out_option
@force_option
def command(
    file: Path, line: tuple[str, ...], overrides: tuple[str, ...], out: Path | None, force: bool
) -> None:
    """Run COMMAND in a private network namespace: its traffic to the address in SOJOURN_RECEIVER
    goes through the network of FILE and comes back to programs of the same COMMAND. Ends with its
    exit status; metrics of each connection go to DIR.
    """
    from sojourn.backends import live
    from sojourn.store import run_directory
    from sojourn.store.place import claimed

    scenario = scenario_of(file, overrides)
    result, status = live.run_command(scenario, line)
    if result is None:
        warn("the command sent nothing to SOJOURN_RECEIVER: there is nothing to store")
        sys.exit(status)
    tell_quality(result)
    tenant = run_directory.tenant(result.scenario, live.key(0))
    with claimed(tenant, out, warn, force=force) as directory:
        run_directory.save(result, directory)
        click.echo(f"results: {directory}", err=True)
    sys.exit(status)
