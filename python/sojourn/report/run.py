"""The report of one run."""

from __future__ import annotations

import json
from pathlib import Path

from sojourn import overview, overview_transfers
from sojourn.figures import chart, figures_of
from sojourn.measured import Measured
from sojourn.metric_tables import by_family
from sojourn.origin import distrust
from sojourn.report.page import Page, Picture, Section, picture
from sojourn.store import run_directory

#: More of a scenario than this is in the manifest only.
_LONGEST = 100_000


def page(directory: Path) -> Page:
    """The page of a run's directory."""
    result = run_directory.load(directory)
    warnings = [f"error: {reason}" for reason in distrust(result.origin)]
    warnings += overview.warnings_told(result, most=12)
    return Page(result.scenario.name, overview.sentence(result), sections(result), warnings)


def sections(result: Measured) -> list[Section]:
    """The run at a glance, figures, metrics and scenario."""
    glance, *others = tables(result)
    return [glance, Section("Figures", pictures=pictures(result)), *others]


def pictures(result: Measured) -> list[Picture]:
    """Its figures, time series first."""
    return [picture(name, chart(name, result)) for name in figures_of(result)]


def tables(result: Measured) -> list[Section]:
    """All but its figures."""
    lines = overview_transfers.loads_told(result) + overview.extremes_told(result)
    lines += [*overview.links_told(result), overview.together(result)]
    shown = [overview.flow_table(result), overview_transfers.transfers_table(result)]
    hints = [
        "The best value of a row is bold where better and worse can be told.",
        "Of groups: median (5th to 95th percentile); every flow is in metrics_flows.parquet.",
    ]
    return [
        Section(
            "At a glance",
            items=[*filter(None, lines)],
            tables=[table for table in shown if table.rows],
        ),
        Section("Metrics", hints, tables=by_family(result)),
        Section("Scenario", ["With every default filled in."], listing=scenario_text(result)),
    ]


def scenario_text(result: Measured) -> str:
    """The canonical scenario, or as much of it as anyone reads."""
    text = json.dumps(result.scenario.canonical, indent=2, ensure_ascii=False)
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n... ({len(text):,} characters: the rest is in manifest.json)"
