"""Goodput over time at each receiver, as the report plots it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.figures.network import picture
from sojourn.papers.gnat2021.multicast.cells import TABLE
from sojourn.papers.gnat2021.multicast.experiments import EXPERIMENTS, Experiment, Run, document
from sojourn.papers.gnat2021.overlay import runs
from sojourn.papers.paper import Request
from sojourn.papers.statements import Row
from sojourn.quantity import number
from sojourn.scenario import Document

#: Receivers that have a panel; of more, the first.
_SHOWN = 4
#: What is offered at lower rates, in bit/s, has a panel of its own.
_SMALL = 1e5
#: Units, their bit/s, and whether they are those of what is small.
_SCALES = (("Mbit/s", 1e6, False), ("kbit/s", 1e3, True))


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """A figure for each experiment that was run."""
    sections = {row["section"] for row in rows if row["table"] == TABLE}
    ran = [experiment for experiment in EXPERIMENTS if experiment.section in sections]
    goodput = {f"multicast-{experiment.section}": _chart(experiment) for experiment in ran}
    networks = {f"multicast-network-{found.section}": _network(found) for found in ran}
    return {**goodput, **networks}


def _network(experiment: Experiment) -> Chart:
    """Of the first run over an overlay."""
    run = next(run for run in experiment.runs if run.bounded)
    data = runs.begin(document(run, Request())).result()
    named = f", {run.name}" if run.name else ""
    return picture(data, f"{experiment.title} ({experiment.section}{named}): the network")


def _chart(experiment: Experiment) -> Chart:
    panels = [panel for run in experiment.runs for panel in _panels(run)]
    title = f"{experiment.title} ({experiment.section})"
    return Chart(title, "Payload delivered every 500 ms, by stream.", panels, stacked=True)


def _panels(run: Run) -> Iterator[Panel]:
    scenario = document(run, Request())
    receivers = list(dict.fromkeys(flow["to"] for flow in scenario["flows"]))
    shown = receivers[: 1 if run.together else _SHOWN]
    # A stream has one colour at all receivers, which share a legend.
    streams = list(dict.fromkeys(label for at in shown for _, label in _to(scenario, at)))
    samples = runs.begin(scenario).result().flow.samples
    for receiver, (unit, scale, small) in product(shown, _SCALES):
        lines = [
            Line(
                label,
                samples.ends,
                8 / scale * samples["in_order_bytes"][:, flow] / (samples.ends - samples.begins),
                color_of(streams.index(label)),
            )
            for flow, label in _to(scenario, receiver)
            if (_offered(scenario, flow) < _SMALL) == small
        ]
        if lines:
            title = f"{run.name} at {receiver}".strip()
            yield Panel("Time (s)", f"Goodput ({unit})", lines, title=title)


def _offered(scenario: Document, flow: int) -> float:
    return float(number(scenario["flows"][flow]["traffic"]["rate"]))


def _to(scenario: Document, receiver: str) -> list[tuple[int, str]]:
    flows = enumerate(scenario["flows"])
    return [(number, flow["label"]) for number, flow in flows if flow["to"] == receiver]
