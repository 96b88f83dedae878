"""Goodput over time at each receiver, as the report plots it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.papers.gnat2021.multicast.cells import TABLE
from sojourn.papers.gnat2021.multicast.experiments import EXPERIMENTS, Experiment, Run, document
from sojourn.papers.gnat2021.overlay import runs
from sojourn.papers.paper import Request
from sojourn.papers.statements import Row
from sojourn.scenario import Document

#: Receivers that have a panel; of more, the first.
_SHOWN = 4


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """A figure for each experiment that was run."""
    sections = {row["section"] for row in rows if row["table"] == TABLE}
    ran = [experiment for experiment in EXPERIMENTS if experiment.section in sections]
    return {f"multicast-{experiment.section}": _chart(experiment) for experiment in ran}


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
    for receiver in shown:
        lines = [
            Line(
                label,
                samples.ends,
                8e-6 * samples["in_order_bytes"][:, number] / (samples.ends - samples.begins),
                color_of(streams.index(label)),
            )
            for number, label in _to(scenario, receiver)
        ]
        title = f"{run.name} at {receiver}".strip()
        yield Panel("Time (s)", "Goodput (Mbit/s)", lines, title=title)


def _to(scenario: Document, receiver: str) -> list[tuple[int, str]]:
    flows = enumerate(scenario["flows"])
    return [(number, flow["label"]) for number, flow in flows if flow["to"] == receiver]
