"""``sojourn sweep``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sojourn.cli import show_sweep
from sojourn.cli.options import (
    Workers,
    force_option,
    limit_options,
    metrics_option,
    out_option,
    set_option,
    workers_options,
)
from sojourn.cli.output import printed, warn
from sojourn.cli.progress import progress
from sojourn.cli.source import scenario_of
from sojourn.cli.units import Shard


@click.command("sweep")
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@workers_options
@out_option
@force_option
@limit_options
@click.option("--seed", type=int, help="Seed of the first replication.")
@metrics_option
@click.option("--rows", multiple=True, metavar="PATH", help="Grid path along the rows.")
@click.option("--columns", multiple=True, metavar="PATH", help="Grid path along the columns.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv", "markdown"]),
    default="table",
    show_default=True,
    help="What is printed.",
)
@click.option("--retry-failed", is_flag=True, help="Run again what has failed before.")
@click.option(
    "--samples/--no-samples",
    default=True,
    show_default=True,
    help="Keep samples, so that changed metrics are computed without simulating again.",
)
@click.option(
    "--shard",
    type=Shard(),
    default="1/1",
    metavar="I/N",
    help="Only every Nth run, from the Ith; sojourn merge unites the parts.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what it would take, from a few runs; store nothing."
)
def command(
    file: Path,
    overrides: tuple[str, ...],
    seed: int | None,
    workers: Workers,
    out: Path | None,
    force: bool,
    metrics: tuple[str, ...],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    output: str,
    retry_failed: bool,
    samples: bool,
    shard: tuple[int, int],
    dry_run: bool,
) -> None:
    """Run a grid of scenarios: all points and replications that are not stored yet."""
    from sojourn.store.place import choose, claimed
    from sojourn.sweeps import directory as directory_of
    from sojourn.sweeps import table
    from sojourn.sweeps.estimate import estimate
    from sojourn.sweeps.expand import plan
    from sojourn.sweeps.run import sweep

    scenario = scenario_of(file, overrides, seed)
    planned = plan(scenario).part(shard)
    names = show_sweep.checked_names(metrics, planned.requested)
    table.check_paths((*rows, *columns), list(planned.grid))
    tenant = directory_of.tenant(scenario, planned)
    if dry_run:
        directory = choose(tenant, out, warn, force)
        jobs = workers.given or os.cpu_count() or 1
        show_sweep.estimate(estimate(planned, directory, jobs, samples=samples), directory, jobs)
        if planned.until:
            show_sweep.further(planned.until, len(planned) // planned.replications)
        return
    with (
        claimed(tenant, out, warn, force=force) as directory,
        workers.connected() as execute,
        progress("runs", directory) as report,
    ):
        summary = sweep(
            planned,
            directory,
            workers.jobs,
            progress=report,
            warn=warn,
            retry_failed=retry_failed,
            keep_samples=samples,
            execute=execute,
        )
    long = table.summary(directory)
    if len(long):
        table.save(long, directory)
        for message in table.warnings(long):
            warn(message)
        with printed():
            show_sweep.aggregate(long, names, rows, columns, output)
    show_sweep.summarise(summary, directory)
