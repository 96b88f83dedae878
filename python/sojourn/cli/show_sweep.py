"""What ``sojourn sweep`` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.output import give, say, warn
from sojourn.cli.units import duration, size
from sojourn.errors import ScenarioError, SojournError

if TYPE_CHECKING:
    import polars as pl

    from sojourn.statistics import Until
    from sojourn.sweeps.estimate import Estimate
    from sojourn.sweeps.run import Summary

_MOST_ERRORS = 5


def checked_names(given: Sequence[str], requested: Sequence[str]) -> list[str]:
    """The metrics that are shown: those given, or the main ones and the ``requested`` ones; the
    sweep has to compute them.
    """
    from sojourn.cli.names import checked_metrics
    from sojourn.metrics import metrics
    from sojourn.sweeps import table

    names = checked_metrics("--metrics", given)
    for name in names:
        if name not in requested and all(m.on_request for m in metrics() if m.name == name):
            raise ScenarioError(
                f"--metrics: {name} needs further runs: give the sweep's table metrics = "
                f'["{name}"], or --set \'sweep.metrics=["{name}"]\''
            )
    return names or [*table.MAIN, *requested]


def estimate(told: Estimate, directory: Path, jobs: int) -> None:
    """Prints what a sweep would take."""
    from sojourn.sweeps.estimate import PATIENCE

    runs = told.runs + told.stored
    say(f"{runs} run{'s' * (runs != 1)}: {_stored(told)}")
    if not told.runs:
        return
    say(
        f"about {duration(told.seconds)} with {jobs} at a time, each on a core of its own; "
        f"{size(told.bytes)} in {directory}"
    )
    cut = f"; {told.cut} of them cut off after {PATIENCE:g} s" if told.cut else ""
    say(f"estimated by running {told.timed} of them, one at a time{cut}")


def _stored(told: Estimate) -> str:
    if not told.stored:
        return f"none stored yet, {told.runs} to run"
    if not told.runs:
        return "all are stored, nothing to run"
    return f"{told.stored} stored or the same as others, {told.runs} to run"


def further(until: Until, points: int) -> None:
    """Prints that more runs may follow from the first ones."""
    say(
        f"these are the first {until.least} runs at each of {points} points: how many more it "
        f"takes, up to {until.most} in all, follows from their {until.of}"
    )


def aggregate(
    long: pl.DataFrame,
    names: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
    output: str,
) -> None:
    """Prints the aggregate of these metrics in one of the formats."""
    from sojourn.figures.plots.words import with_unit
    from sojourn.metrics import metrics
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
        if not lines:
            continue
        if output == "markdown":
            give(f"**{name}**\n\n{table.markdown(header, lines)}")
        else:
            unit = next(m.unit for m in metrics() if m.name == name)
            title = with_unit(name, unit)
            tables.show(f"{title}: mean ± 95 % confidence", header, lines, words=words)


def summarise(summary: Summary, directory: Path) -> None:
    """Says how a sweep went; fails if runs did."""
    from sojourn.sweeps import table

    equal = f"{summary.equal} equal to another point, " if summary.equal else ""
    say(
        f"{summary.total} runs: {summary.run} run now, {summary.stored_before} stored before, "
        f"{equal}{summary.failed} failed; results: {directory}",
        err=True,
    )
    if summary.other_builds:
        warn(f"ignoring {summary.other_builds} stored runs that other builds of Sojourn have made")
    if summary.wide:
        warn(
            f"{summary.wide} points have as many runs as sweep.replications.max allows, and "
            "perhaps wider intervals than sweep.replications.until asks for"
        )
    if summary.failed:
        shown = [f"  {p}: {e}" for p, e in table.failures(directory)[:_MOST_ERRORS]]
        raise SojournError("\n".join([f"{summary.failed} runs failed:", *shown]))
