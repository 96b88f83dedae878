"""The report of one run."""

from __future__ import annotations

import json
from pathlib import Path

from sojourn import metric_tables, overview, overview_transfers
from sojourn.explain import explain
from sojourn.figures import chart, figures_of
from sojourn.measured import Measured
from sojourn.origin import distrust
from sojourn.report.page import Page, Picture, Section, picture
from sojourn.store import run_directory

#: More of a scenario than this is in the manifest only.
_LONGEST = 100_000
#: So many lines say what came of a run, of which so many how transfers load it.
_MOST_LINES, _MOST_LOADS = 10, 3


def page(directory: Path) -> Page:
    """The page of a run's directory."""
    result = run_directory.load(directory)
    warnings = [f"error: {reason}" for reason in distrust(result.origin)]
    warnings += overview.warnings_told(result, most=12)
    return Page(result.scenario.name, overview.sentence(result), sections(result), warnings)


def sections(result: Measured) -> list[Section]:
    """The run at a glance, flows and links, other figures, metrics and scenario."""
    drawn = pictures(result)
    glance = Section("At a glance", pictures=drawn[:1], lines=words(result))
    members, *rest = tables(result)
    more = [Section("More figures", pictures=drawn[1:])] if drawn[1:] else []
    return [glance, members, *more, *rest]


def pictures(result: Measured) -> list[Picture]:
    """Its figures, time series first."""
    return [picture(name, chart(name, result)) for name in figures_of(result)]


def words(result: Measured) -> list[tuple[str, str]]:
    """What came of it and why, the weightiest first: what a line is about, and the line."""
    loads = overview_transfers.loads_told(result)[:_MOST_LOADS]
    told = [_labelled(line) for line in (overview.together(result), *loads) if line]
    found = explain(result).heaviest(_MOST_LINES - len(told))
    return told + [(finding.cause, finding.words()) for finding in found]


def _labelled(line: str) -> tuple[str, str]:
    label, _, text = line.partition(": ")
    return label, text


def tables(result: Measured) -> list[Section]:
    """All but its figures and what is said of it."""
    lines = overview_transfers.loads_told(result)[_MOST_LOADS:]
    lines += overview.extremes_told(result) + overview.links_told(result)
    shown = [overview.flow_table(result), overview_transfers.transfers_table(result)]
    hints = [
        "The best value of a row is bold where better and worse can be told.",
        "Metrics that have no value in this run are left out.",
    ]
    if result.data.flow.count > metric_tables.MOST_FLOWS:
        hints.append(
            "Of groups: median (5th to 95th percentile); every flow is in metrics_flows.parquet."
        )
    return [
        Section("Flows and links", items=lines, tables=[table for table in shown if table.rows]),
        Section("Metrics", hints, tables=metric_tables.by_family(result)),
        Section("Scenario", ["With every default filled in."], listing=scenario_text(result)),
    ]


def scenario_text(result: Measured) -> str:
    """The canonical scenario, or as much of it as anyone reads."""
    text = json.dumps(result.scenario.canonical, indent=2, ensure_ascii=False)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n... ({len(text):,} characters: the rest is in manifest.json)"
