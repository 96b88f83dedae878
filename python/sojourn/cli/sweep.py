"""``sojourn sweep``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.options import force_option, jobs_option, metrics_option, out_option, set_option
from sojourn.cli.output import printed, warn
from sojourn.cli.progress import progress
from sojourn.cli.source import scenario_of

if TYPE_CHECKING:
    import polars as pl

    from sojourn.sweeps.run import Summary

_MOST_ERRORS = 5


@click.command("sweep")
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@jobs_option
@out_option
@force_option
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
def command(
    file: Path,
    overrides: tuple[str, ...],
    seed: int | None,
    jobs: int,
    out: Path | None,
    force: bool,
    metrics: tuple[str, ...],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    output: str,
    retry_failed: bool,
    samples: bool,
) -> None:
    """Run a grid of scenarios: all points and replications that are not stored yet."""
    from sojourn.cli.names import checked_metrics
    from sojourn.store.place import claimed
    from sojourn.sweeps import directory as directory_of
    from sojourn.sweeps import table
    from sojourn.sweeps.expand import plan
    from sojourn.sweeps.run import sweep

    names = checked_metrics("--metrics", metrics) or list(table.MAIN)
    scenario = scenario_of(file, overrides, seed)
    planned = plan(scenario)
    table.check_paths((*rows, *columns), list(planned.grid))
    tenant = directory_of.tenant(scenario, planned)
    with claimed(tenant, out, warn, force=force) as directory, progress("runs") as report:
        summary = sweep(
            planned,
            directory,
            jobs,
            progress=report,
            warn=warn,
            retry_failed=retry_failed,
            keep_samples=samples,
        )
    long = table.summary(directory)
    if len(long):
        table.save(long, directory)
        for message in table.warnings(long):
            warn(message)
        with printed():
            _print(long, names, rows, columns, output)
    _summarise(summary, directory)


def _print(
    long: pl.DataFrame,
    names: list[str],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    output: str,
) -> None:
    from sojourn.sweeps import table

    if output in ("json", "csv"):
        import polars as pl

        shown = long.filter(pl.col("metric").is_in(names))
        entries = shown.to_dicts()
        if output == "json":
            click.echo(json.dumps(entries))
        else:
            tables.write_csv(shown.columns, entries)
        return
    for name in names:
        header, lines, words = table.pivot(long, name, rows, columns)
        if output == "markdown":
            click.echo(f"**{name}**\n\n{table.markdown(header, lines)}")
        elif lines:
            tables.show(f"{name} (mean ± 95 % confidence)", header, lines, words=words)


def _summarise(summary: Summary, directory: Path) -> None:
    from sojourn.errors import SojournError
    from sojourn.sweeps import table

    equal = f"{summary.equal} equal to another point, " if summary.equal else ""
    click.echo(
        f"{summary.total} runs: {summary.run} run now, {summary.stored_before} stored before, "
        f"{equal}{summary.failed} failed; results: {directory}",
        err=True,
    )
    if summary.other_builds:
        click.echo(
            f"{summary.other_builds} stored runs of other builds of Sojourn are left out", err=True
        )
    if summary.failed:
        shown = [f"  {p}: {e}" for p, e in table.failures(directory)[:_MOST_ERRORS]]
        raise SojournError("\n".join([f"{summary.failed} runs failed:", *shown]))
