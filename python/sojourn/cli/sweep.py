"""``sojourn sweep``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli import show_sweep
from sojourn.cli.backends import one_backend_option, workers_of
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

if TYPE_CHECKING:
    from sojourn.store.place import Tenant
    from sojourn.sweeps.expand import Plan


@dataclass(frozen=True)
class _Asked:
    """The options, as they are given."""

    file: Path
    overrides: tuple[str, ...]
    seed: int | None
    backend: str
    workers: Workers
    out: Path | None
    force: bool
    metrics: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    output: str
    retry_failed: bool
    samples: bool
    shard: tuple[int, int]
    dry_run: bool


@click.command("sweep")
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@one_backend_option
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
def command(**options: Any) -> None:  # the fields of _Asked
    """Run a grid of scenarios: all points and replications that are not stored yet."""
    from sojourn.sweeps import directory as directory_of
    from sojourn.sweeps import table
    from sojourn.sweeps.expand import plan

    asked = _Asked(**options)
    asked = replace(asked, workers=workers_of(asked.backend, asked.workers))
    scenario = scenario_of(asked.file, asked.overrides, asked.seed)
    planned = plan(scenario, asked.backend).part(asked.shard)
    names = show_sweep.checked_names(asked.metrics, planned.requested)
    table.check_paths((*asked.rows, *asked.columns), list(planned.grid))
    tenant = directory_of.tenant(scenario, planned)
    if asked.dry_run:
        _estimate(planned, tenant, asked)
    else:
        _sweep(planned, tenant, names, asked)


def _estimate(planned: Plan, tenant: Tenant, asked: _Asked) -> None:
    from sojourn.store.place import choose
    from sojourn.sweeps.estimate import estimate

    directory = choose(tenant, asked.out, warn, asked.force)
    jobs = asked.workers.given or os.cpu_count() or 1
    told = estimate(planned, directory, jobs, samples=asked.samples)
    show_sweep.estimate(told, directory, jobs)
    if planned.until:
        show_sweep.further(planned.until, len(planned) // planned.replications)


def _sweep(planned: Plan, tenant: Tenant, names: Sequence[str], asked: _Asked) -> None:
    from sojourn.store.place import claimed
    from sojourn.sweeps import table
    from sojourn.sweeps.run import sweep

    with claimed(tenant, asked.out, warn, force=asked.force) as claim:
        with asked.workers.connected() as execute, progress("runs", claim.directory) as report:
            summary = sweep(
                planned,
                claim.work,
                asked.workers.jobs,
                progress=report,
                warn=warn,
                retry_failed=asked.retry_failed,
                keep_samples=asked.samples,
                execute=execute,
            )
        long = table.summary(claim.work)
        if len(long):
            table.save(long, claim.work)
    if len(long):
        for message in table.warnings(long):
            warn(message)
        with printed():
            show_sweep.aggregate(long, names, asked.rows, asked.columns, asked.output)
    show_sweep.summarise(summary, claim.directory)
