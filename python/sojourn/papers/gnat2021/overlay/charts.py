"""Goodput over time, as the report plots it, and the network with its loads and queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.figures.network import picture
from sojourn.papers.gnat2021.overlay import latency, runs
from sojourn.papers.gnat2021.overlay.experiments import EXPERIMENTS, Experiment, Run
from sojourn.papers.paper import Request
from sojourn.papers.statements import Row


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """A figure for each experiment that was run."""
    sections = {row["section"] for row in rows}
    ran = [experiment for experiment in EXPERIMENTS if experiment.section in sections]
    goodput = {f"overlay-{experiment.section}": _chart(experiment) for experiment in ran}
    networks = {f"network-{experiment.section}": _network(experiment) for experiment in ran}
    delays = {f"latency-{experiment.section}": latency.chart(experiment) for experiment in ran}
    return {**goodput, **networks, **{name: chart for name, chart in delays.items() if chart}}


def _network(experiment: Experiment) -> Chart:
    """Of the first run."""
    run = experiment.runs[0]
    data = runs.begin(runs.document(experiment, run, Request())).result()
    named = f", {run.name}" if run.name else ""
    return picture(data, f"{experiment.file} ({experiment.section}{named}): the network")


def _chart(experiment: Experiment) -> Chart:
    panels = [_panel(experiment, run) for run in experiment.runs]
    title = f"{experiment.file} ({experiment.section})"
    caption = "Payload delivered, the mean of a group's flows, every 500 ms."
    return Chart(title, caption, panels, stacked=True)


def _panel(experiment: Experiment, run: Run) -> Panel:
    scenario = runs.document(experiment, run, Request())
    labels = dict.fromkeys(flow["label"] for flow in scenario["flows"])
    lines = []
    for index, label in enumerate(labels):
        times, rates = runs.series(scenario, label)
        lines.append(Line(label, times, rates, color_of(index)))
    return Panel("Time (s)", "Goodput (Mbit/s)", lines, title=run.name)
