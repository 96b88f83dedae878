"""What each transfer came to: a row for each of a run's or a sweep's."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.plots.series import order_of_runs, runs_of
from sojourn.figures.plots.source import Source
from sojourn.figures.plots.values import Values
from sojourn.metrics import RunData
from sojourn.metrics.transfer_view import sizes_text

#: What a transfer has, and what an axis calls it.
QUANTITIES: Mapping[str, str] = {"fct": "Completion time (s)", "slowdown": "Slowdown"}


def evaluate(source: Source, quantity: str) -> Values:
    """The completion times or slowdowns of all transfers of the cohorts."""
    parts: list[tuple[int, pl.DataFrame]] = []
    members = source.of_scope("transfer")
    order = order_of_runs(members)
    for result, key, run in runs_of(source):
        mine = members.filter(result=result, key=key)
        points = mine.unique("point").select(source.keys)
        if len(points):
            part = points.join(_transfers(run, quantity), how="cross")
            parts.append((order[result, key], part))
    if not parts:
        raise ScenarioError(f"{source.name}: holds no transfers; sweep with --samples")
    rows = pl.concat(part for _, part in sorted(parts, key=itemgetter(0)))
    return Values(rows, QUANTITIES[quantity])


def _transfers(run: RunData, quantity: str) -> pl.DataFrame:
    """One row per transfer, with its label, its control and its bin of sizes."""
    view = run.transfer
    values, variants = view.values(quantity), run.tables["transfers"]["variant"]
    frames = [
        pl.DataFrame({"variant": variants[which], "value": values[which]}).select(
            label=pl.lit(member.label),
            cca=_control(run, member.entry),
            sizes=pl.lit(sizes_text(member.sizes)),
            value="value",
        )
        for member in view.members
        if member.sizes is not None
        for which in [view.which(member)]
    ]
    return pl.concat(frames).filter(pl.col("value").is_finite())


def _control(run: RunData, entry: int) -> pl.Expr:
    """The control of a transfer's variant."""
    variants = run.network["arrivals"][entry]["variants"]
    controls = {number: variant["cca"] for number, variant in enumerate(variants)}
    return pl.col("variant").replace_strict(controls, return_dtype=pl.String)
