"""The report of a sweep: pivot tables and figures over the grid."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from sojourn.figures.over_sweep import charts
from sojourn.report.page import Page, Section, Table, picture
from sojourn.store import manifest
from sojourn.sweep import table


def page(directory: Path) -> Page:
    """The page of a sweep's directory."""
    content = manifest.read(directory)
    samples = table.stored(directory)
    long = table.with_members(table.aggregate(samples))
    shown = [name for name in table.MAIN if len(long) and name in long["metric"].unique()]
    failed = samples.filter(pl.col("scope") == "run")
    runs = samples["key"].n_unique()
    sections = [_metric(name, long, samples) for name in shown]
    if len(failed):
        errors = [f"{p}: {e}" for p, e in failed.select("point", "error").rows()]
        sections.insert(0, Section("Failed runs", items=errors))
    listing = json.dumps(content["document"], indent=2, ensure_ascii=False)
    sections.append(Section("Scenario", ["As it was written."], listing=listing))
    grid = ", ".join(f"{path} ({len(values)})" for path, values in content["grid"].items())
    name = content["document"].get("name", directory.name)
    return Page(name, f"{runs} runs over {grid or 'replications'}", sections)


def _metric(name: str, long: pl.DataFrame, samples: pl.DataFrame) -> Section:
    point = table.coordinates_of(long)
    header, rows, words = table.pivot(long, name, (), point[:1])
    note = "Mean over replications ± half the width of its 95 % confidence interval."
    shown = Table(name, header, rows, words=words)
    pictures = [picture(key, chart) for key, chart in charts(long, samples, name)]
    return Section(name, [note], tables=[shown], pictures=pictures)
