"""The report of a sweep: pivot tables and figures over the grid."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from sojourn.figures.over_sweep import charts
from sojourn.report.page import Page, Section, picture
from sojourn.store import manifest
from sojourn.sweeps import table
from sojourn.table import Table


def page(directory: Path) -> Page:
    """The page of a sweep's directory."""
    content = manifest.read(directory)
    long = table.summary(directory)
    shown = [name for name in table.MAIN if len(long) and name in long["metric"].unique()]
    sections = [_metric(name, long, directory) for name in shown]
    if failures := table.failures(directory):
        errors = [f"{point}: {error}" for point, error in failures]
        sections.insert(0, Section("Failed runs", items=errors))
    listing = json.dumps(content["document"], indent=2, ensure_ascii=False)
    sections.append(Section("Scenario", ["As it was written."], listing=listing))
    grid = ", ".join(f"{path} ({len(values)})" for path, values in content["grid"].items())
    runs = table.ask(directory, lambda rows: rows.select(pl.col("key").n_unique()).collect().item())
    name = content["document"].get("name", directory.name)
    return Page(name, f"{runs or 0} runs over {grid or 'replications'}", sections)


def _metric(name: str, long: pl.DataFrame, directory: Path) -> Section:
    point = table.coordinates_of(long)
    header, rows, words = table.pivot(long, name, (), point[:1])
    note = "Mean over replications ± half the width of its 95 % confidence interval."
    shown = Table(name, header, rows, words=words)
    drawn = table.ask(directory, lambda rows: list(charts(long, rows, name))) or []
    pictures = [picture(key, chart) for key, chart in drawn]
    return Section(name, [note], tables=[shown], pictures=pictures)
