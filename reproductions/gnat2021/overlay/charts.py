"""Goodput over time, as the report plots it, and the network with its loads and queues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sojourn.campaign.cases import Results, Sampled
from sojourn.figures.chart import Chart, Line, Panel, color_of, dash_of
from sojourn.figures.network import history, picture
from sojourn.metrics import RunData
from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.overlay import latency, runs
from sojourn_reproductions.gnat2021.overlay.cells import is_udp
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS, Experiment
from sojourn_reproductions.gnat2021.overlay.panels import Part, parts


def drawn(keys: Sequence[Mapping[str, Any]], request: Request) -> Iterator[Sampled]:
    """The runs of the figures: delays are shown without the overlay as well."""
    sections = {key["section"] for key in keys}
    for experiment in EXPERIMENTS:
        for run in experiment.runs if experiment.section in sections else ():
            scenario = runs.document(experiment, run, request)
            yield runs.sampled(scenario)
            if any(is_udp(scenario, flow["label"]) for flow in scenario["flows"]):
                yield runs.sampled(runs.plain(scenario))


def charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    """Figures of each experiment that was run."""
    sections = {row["section"] for row in rows}
    made: dict[str, Chart] = {}
    for experiment in EXPERIMENTS:
        if experiment.section in sections:
            made |= _of(experiment, request, results)
    return made


def _of(experiment: Experiment, request: Request, results: Results) -> Mapping[str, Chart]:
    """The network is that of the first run."""
    run, section = experiment.runs[0], experiment.section
    data = results[runs.sampled(runs.document(experiment, run, request))]
    named = f"{experiment.file} ({section}{f', {run.name}' if run.name else ''})"
    delays = latency.chart(experiment, request, results)
    return {
        f"overlay-{section}": _chart(experiment, request, results),
        f"network-{section}": picture(data, f"{named}: the network"),
        f"network-over-time-{section}": history(data, f"{named}: loads and queues over time"),
        **({f"latency-{section}": delays} if delays else {}),
    }


def _chart(experiment: Experiment, request: Request, results: Results) -> Chart:
    panels = [
        _panel(part, results[runs.sampled(part.scenario)]) for part in parts(experiment, request)
    ]
    title = f"{experiment.file} ({experiment.section})"
    caption = "Payload delivered, the mean of a group's flows, every 500 ms."
    return Chart(title, caption, panels, stacked=True)


def _panel(part: Part, data: RunData) -> Panel:
    lines = []
    for index, label in part.groups:
        times, rates = runs.series(data, label, part.node)
        lines.append(Line(label, times, rates, color_of(index), dash=dash_of(index)))
    return Panel("Time (s)", "Goodput (Mbit/s)", lines, title=part.title)
