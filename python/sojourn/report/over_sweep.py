"""The report of a sweep: pivot tables and figures over the grid."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from sojourn.figures.chart import Chart
from sojourn.figures.over_sweep import charts
from sojourn.metrics import metrics
from sojourn.origin import elsewhere
from sojourn.report.page import Page, Section, picture
from sojourn.store import manifest
from sojourn.store.manifest import Manifest
from sojourn.sweeps import table
from sojourn.table import Table

_MOST_FAILURES = 20


def page(directory: Path) -> Page:
    """The page of a sweep's directory."""
    content = manifest.read(directory)
    long = table.summary(directory)
    shown = [name for name in table.MAIN if len(long) and name in long["metric"].unique()]
    sections = [_metric(name, long, directory) for name in shown]
    if failures := table.failures(directory):
        errors = [f"{point}: {error}" for point, error in failures[:_MOST_FAILURES]]
        more = len(failures) - len(errors)
        sections.insert(0, Section("Failed runs", items=errors + [f"and {more} more"] * bool(more)))
    listing = json.dumps(content["document"], indent=2, ensure_ascii=False)
    sections.append(Section("Scenario", ["As it was written."], listing=listing))
    name = content["document"].get("name", directory.name)
    warnings = [f"warning: {told}" for told in table.warnings(long)] if len(long) else []
    if failures:
        warnings.insert(0, f"error: {len(failures)} runs failed")
    return Page(name, _sentence(directory, content), sections, warnings)


def _sentence(directory: Path, content: Manifest) -> str:
    runs = table.ask(directory, lambda rows: rows.select(pl.col("key").n_unique()).collect().item())
    paths = [f"{path} ({len(values)} values)" for path, values in content["grid"].items()]
    over = " and ".join(filter(None, [", ".join(paths[:-1]), *paths[-1:]])) or "replications"
    return (
        f"{runs or 0:,} runs of one scenario over {over}{elsewhere(content.get('origin') or {})}."
    )


def _metric(name: str, long: pl.DataFrame, directory: Path) -> Section:
    point = table.coordinates_of(long)
    header, rows, words = table.pivot(long, name, (), point[:1])
    metric = next(m for m in metrics() if m.name == name)
    notes = [
        f"{metric.summary} Unit: {metric.unit}.",
        "Mean over replications ± half the width of its 95 % confidence interval.",
    ]
    drawn = table.ask(directory, lambda rows: list(charts(long, rows, name))) or []
    pictures = [picture(key, chart) for key, chart in drawn if isinstance(chart, Chart)]
    left_out = [f"{key}: {why}" for key, why in drawn if isinstance(why, str)]
    if left_out:
        notes.append(f"Figures left out: {'; '.join(left_out)}.")
    return Section(name, notes, tables=[Table("", header, rows, words=words)], pictures=pictures)
