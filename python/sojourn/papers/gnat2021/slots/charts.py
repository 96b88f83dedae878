"""Rates, loads of links, delays and queues over time, as the report plots them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.papers.gnat2021.slots.cells import TABLE, outcome
from sojourn.papers.gnat2021.slots.models import RUNS, Run
from sojourn.papers.statements import Row

_TITLES = {
    "2.1": "Load balancing of multicast (2.1)",
    "2.2": "Latency reduction at a changing bottleneck (2.2)",
    "2.4": "Signalling strategies (2.4)",
}


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Figures of the sections that were run."""
    sections = {row["section"] for row in rows if row["table"] == TABLE}
    made = {}
    for section in sorted(sections):
        runs = [run for run in RUNS if run.section == section]
        if section == "2.2":
            runs = [run for run in runs if run.name.startswith("short ")]
        panels = [_rates(run) for run in runs]
        caption = "Packets delivered, means of a second."
        made[f"slots-{section}"] = Chart(_TITLES[section], caption, panels, stacked=True)
        if section == "2.1":
            loads = [_loads(run) for run in runs]
            caption = "Packets over each link, means of a second; without zombies."
            title = "Loads of links (2.1)"
            made["slots-2.1-loads"] = Chart(title, caption, loads, stacked=True)
        if section == "2.2":
            delays = [_delays(run) for run in runs]
            caption = "Means of 100 ms."
            title = "Delays at a changing bottleneck (2.2)"
            made["slots-2.2-delays"] = Chart(title, caption, delays, stacked=True)
    return made


def _smooth(values: Sequence[float]) -> np.ndarray:
    """Means of ten samples, a second."""
    whole = np.asarray(values)[: len(values) // 10 * 10]
    return np.asarray(whole.reshape(-1, 10).mean(axis=1))


def _panel(run: Run, what: str, series: Mapping[str, Sequence[float]]) -> Panel:
    seconds = np.asarray(outcome(run)["times"])[9::10]
    lines = [
        Line(label, seconds, _smooth(values), color_of(index))
        for index, (label, values) in enumerate(series.items())
    ]
    return Panel("Time (s)", what, lines, title=run.name)


def _rates(run: Run) -> Panel:
    received = outcome(run)["received"]
    series = {f"{row['stream']} to {row['node']}": row["rates"] for row in received}
    return _panel(run, "Rate (Mbit/s)", series)


def _loads(run: Run) -> Panel:
    loads = outcome(run)["loads"]
    used = [row for row in loads if max(row["rates"]) > 0.1]
    return _panel(
        run, "Load (Mbit/s)", {f"{row['from']} to {row['to']}": row["rates"] for row in used}
    )


def _delays(run: Run) -> Panel:
    found = outcome(run)
    lines = []
    for index, row in enumerate(found["received"]):
        delays = np.asarray(row["delays"], dtype=float)
        label = f"{row['stream']} to {row['node']}"
        lines.append(Line(label, np.asarray(found["times"]), delays, color_of(index)))
    return Panel("Time (s)", "Delay (ms)", lines, title=run.name)
