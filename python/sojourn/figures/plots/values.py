"""What is drawn: a metric, or what is derived from one, as one value per run and member."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.plots import words
from sojourn.figures.plots.source import MEMBERS, Source
from sojourn.metrics import metrics
from sojourn.metrics.transfer_view import QUANTITIES
from sojourn.names import unknown

#: Of what ``share``, ``ratio`` and ``sum`` are unless they say.
_DEFAULT = "mean_throughput_l4"
_OF = r"(?:\s+of\s+(?P<metric>\w+))?"


@dataclass(frozen=True)
class Values:
    """One value per run and member: the columns of the grid, of the members, and ``value``."""

    rows: pl.DataFrame
    #: Quantity and unit.
    label: str


def evaluate(source: Source, text: str) -> Values:
    """The values of a metric, ``share(bbr)``, ``ratio(0, 1)`` or ``sum by label``; each of the
    latter of mean throughput, or of the metric after ``of``.
    """
    for pattern, derive in _DERIVED:
        if match := re.fullmatch(pattern + _OF, text.strip()):
            metric = match["metric"] or _DEFAULT
            flows = _flows(source, metric)
            return derive(source, flows, metric, match)
    return of_metric(source, text.strip())


def of_metric(source: Source, name: str) -> Values:
    """The values of one metric of whatever scope has it."""
    scopes = [m.scope for m in metrics() if m.name == name]
    if not scopes:
        forms = "share(bbr), ratio(0, 1), sum by label"
        told = unknown("metric", name, _names(), "sojourn list metrics")
        raise ScenarioError(f"--y: {told} (also allowed: {forms})")
    rows = source.of_scope(scopes[0])
    if name not in rows.columns or not rows[name].count():
        further = any(m.on_request for m in metrics() if m.name == name)
        hint = f'; it takes further runs: sweep with metrics = ["{name}"]' if further else ""
        raise ScenarioError(f"--y {name}: {source.name} has no values of it{hint}")
    members = [c for c in MEMBERS if c in rows.columns]
    if scopes[0] == "transfer":
        rows = rows.with_columns(half_width=_half_widths(source, name))
        members += ["size_low", "size_high", "half_width"]
    columns = dict.fromkeys([*source.keys, *members])
    chosen = rows.select(*columns, pl.col(name).cast(pl.Float64).alias("value"))
    return Values(chosen.drop_nulls("value"), words.of_metric(name))


def _half_widths(source: Source, name: str) -> pl.Series | None:
    """Of the intervals of single runs, where there are any; null in a sweep, whose replications
    say more.
    """
    if not (source.runs and name.startswith(QUANTITIES)):
        return None
    runs = [one.run for one in source.results.values() if one.run]
    widths = [width for run in runs for width in run.intervals(name)]
    return pl.Series(widths, dtype=pl.Float64, nan_to_null=True)


def _names() -> list[str]:
    return list(dict.fromkeys(m.name for m in metrics()))


def _flows(source: Source, metric: str) -> pl.DataFrame:
    if not any(m.name == metric for m in metrics("flow")):
        known = [m.name for m in metrics("flow")]
        raise ScenarioError(
            f"--y: {unknown('metric of flows', metric, known, 'sojourn list metrics')}"
        )
    flows = source.of_scope("flow").rename({metric: "value"})
    return flows.with_columns(pl.col("value").cast(pl.Float64))


def _is(source: Source, flows: pl.DataFrame, name: str) -> pl.Expr:
    """Whether a row is of the flow with this id, or of one with this label or control."""
    known = {
        column: set(flows[column].drop_nulls().unique()) for column in ("flow", "label", "cca")
    }
    for column, names in known.items():
        if name in names:
            return pl.col(column) == name
    every = sorted(set.union(*known.values()))
    raise ScenarioError(f"--y: {unknown('flow, label or control', name, every)}")


def _share(source: Source, flows: pl.DataFrame, metric: str, match: re.Match[str]) -> Values:
    name = match["name"].strip()
    mine = pl.col("value").filter(_is(source, flows, name)).sum()
    percent = flows.group_by(source.keys, maintain_order=True).agg(
        value=100 * mine / pl.col("value").sum()
    )
    quantity = words.small(words.of_metric(metric).partition(" (")[0])
    label = f"{words.capital(_told(name))}'s share of {quantity} (%)"
    return Values(_defined(percent), label)


def _ratio(source: Source, flows: pl.DataFrame, metric: str, match: re.Match[str]) -> Values:
    names = [match[part].strip() for part in ("over", "under")]
    over, under = (pl.col("value").filter(_is(source, flows, n)).mean() for n in names)
    ratios = flows.group_by(source.keys, maintain_order=True).agg(value=over / under)
    quantity = words.of_metric(metric).partition(" (")[0]
    return Values(_defined(ratios), f"{quantity}: {' / '.join(map(_told, names))}")


def _told(name: str) -> str:
    """A flow by its id, or flows by their label or control."""
    return f"flow {name}" if name.isdigit() else words.of_value(name)


def _sum(source: Source, flows: pl.DataFrame, metric: str, match: re.Match[str]) -> Values:
    by = match["by"]
    named = flows.drop_nulls(by)
    if not len(named):
        raise ScenarioError(f"--y {match[0]}: no flow has a {by}")
    sums = named.group_by(*source.keys, by, maintain_order=True).agg(pl.col("value").sum())
    return Values(_defined(sums), words.of_metric(metric).replace(" (", ", sum (", 1))


def _defined(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("value").is_finite())


Derive = Callable[[Source, pl.DataFrame, str, "re.Match[str]"], Values]
_DERIVED: tuple[tuple[str, Derive], ...] = (
    (r"share\(\s*(?P<name>[^,()]+)\)", _share),
    (r"ratio\(\s*(?P<over>[^,()]+),(?P<under>[^,()]+)\)", _ratio),
    (r"sum\s+by\s+(?P<by>label|cca)", _sum),
)
