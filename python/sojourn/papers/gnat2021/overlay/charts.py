"""Goodput over time, as the report plots it, and the network with its loads and queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.figures.chart import Chart, Line, Panel, color_of, dash_of
from sojourn.figures.network import history, picture
from sojourn.papers.gnat2021.overlay import latency, runs
from sojourn.papers.gnat2021.overlay.experiments import EXPERIMENTS, Experiment
from sojourn.papers.gnat2021.overlay.panels import Part, parts
from sojourn.papers.paper import Request
from sojourn.papers.statements import Row


def charts(rows: Sequence[Row], request: Request) -> Mapping[str, Chart]:
    """Figures of each experiment that was run."""
    sections = {row["section"] for row in rows}
    made: dict[str, Chart] = {}
    for experiment in EXPERIMENTS:
        if experiment.section in sections:
            made |= _of(experiment, request)
    return made


def _of(experiment: Experiment, request: Request) -> Mapping[str, Chart]:
    """The network is that of the first run."""
    run, section = experiment.runs[0], experiment.section
    data = runs.begin(runs.document(experiment, run, request)).result()
    named = f"{experiment.file} ({section}{f', {run.name}' if run.name else ''})"
    delays = latency.chart(experiment, request)
    return {
        f"overlay-{section}": _chart(experiment, request),
        f"network-{section}": picture(data, f"{named}: the network"),
        f"network-over-time-{section}": history(data, f"{named}: loads and queues over time"),
        **({f"latency-{section}": delays} if delays else {}),
    }


def _chart(experiment: Experiment, request: Request) -> Chart:
    panels = [_panel(part) for part in parts(experiment, request)]
    title = f"{experiment.file} ({experiment.section})"
    caption = "Payload delivered, the mean of a group's flows, every 500 ms."
    return Chart(title, caption, panels, stacked=True)


def _panel(part: Part) -> Panel:
    lines = []
    for index, label in part.groups:
        times, rates = runs.series(part.scenario, label, part.node)
        lines.append(Line(label, times, rates, color_of(index), dash=dash_of(index)))
    return Panel("Time (s)", "Goodput (Mbit/s)", lines, title=part.title)
