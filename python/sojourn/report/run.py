"""The report of one run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.figures import FIGURES, chart
from sojourn.metrics import Metric, Scope, metrics
from sojourn.report.page import Page, Section, picture
from sojourn.result import Result
from sojourn.store import run_directory
from sojourn.table import Table

#: More columns than this make a table that nobody reads; the rest is in the Parquet files.
_MOST_COLUMNS = 12


def page(directory: Path) -> Page:
    """The page of a run's directory."""
    result = run_directory.load(directory)
    return Page(result.scenario.name, summary(result), sections(result))


def summary(result: Result) -> str:
    """One line about the run."""
    canonical = result.scenario.canonical
    links = result.data.network["links"]
    rate = next((link["rate"] for link in links if link["rate"]), "no rate")
    count = result.data.flow.count
    return f"{count} flows, {rate}, {canonical['duration']}, seed {canonical['seed']}"


def sections(result: Result) -> list[Section]:
    """Figures, metrics and scenario of a run."""
    pictures = [picture(name, chart(name, result)) for name in FIGURES]
    listing = json.dumps(result.scenario.canonical, indent=2, ensure_ascii=False)
    hint = "The best value of a row is bold where better and worse can be told."
    return [
        Section("Figures", pictures=pictures),
        Section("Metrics", [hint], tables=metric_tables(result)),
        Section("Scenario", ["With every default filled in."], listing=listing),
    ]


def metric_tables(result: Result) -> list[Table]:
    """Flows, links and network: one row per metric, one column per member."""
    document = result.to_json()
    flows, links = document["flows"][:_MOST_COLUMNS], document["links"][:_MOST_COLUMNS]
    names = [f"{flow['id']} {flow['label'] or flow['cca']}" for flow in flows]
    shown = [
        _table("Flows", "flow", names, flows),
        _table("Links", "link", [link["id"] for link in links], links),
        _table("Network", "net", ["value"], [document["net"]]),
    ]
    return [table for table in shown if table.rows]


def _table(
    title: str, scope: Scope, names: list[str], members: Sequence[Mapping[str, Any]]
) -> Table:
    rows, best = [], set()
    known = [m for m in metrics(scope) if members and m.name in members[0]["metrics"]]
    for number, metric in enumerate(known):
        values = [member["metrics"][metric.name] for member in members]
        rows.append([metric.name, metric.unit, *values])
        best |= {(number, 2 + column) for column in _best(metric, values)}
    return Table(title, ["metric", "unit", *names], rows, frozenset(best), words=2)


def _best(metric: Metric, values: Sequence[float | None]) -> list[int]:
    """Columns of the best value, if there is anything to choose from."""
    known = [v for v in values if v is not None]
    if metric.better is None or len(set(known)) < 2:
        return []
    best = max(known) if metric.better == "higher" else min(known)
    return [column for column, value in enumerate(values) if value == best]
