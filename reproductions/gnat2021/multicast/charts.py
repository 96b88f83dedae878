"""Goodput over time at each receiver, as the report plots it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from sojourn.campaign.cases import Results, Sampled
from sojourn.figures.chart import BLACK, Band, Chart, Line, Panel, color_of, dash_of
from sojourn.figures.network import history, picture
from sojourn.metrics import RunData
from sojourn.metrics.columns import Values
from sojourn.quantity import number
from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import Row
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.multicast.cells import TABLE
from sojourn_reproductions.gnat2021.multicast.experiments import (
    EXPERIMENTS,
    Experiment,
    Run,
    document,
)
from sojourn_reproductions.gnat2021.overlay.runs import sampled

#: Receivers that have a panel; of more, the first.
_SHOWN = 4
#: What is offered at lower rates, in bit/s, has a panel of its own.
_SMALL = 1e5
#: Units, their bit/s, and whether they are those of what is small.
_SCALES = (("Mbit/s", 1e6, False), ("kbit/s", 1e3, True))


def drawn(keys: Sequence[Mapping[str, Any]], request: Request) -> Iterator[Sampled]:
    """The runs of the figures."""
    sections = {key["section"] for key in keys if key["table"] == TABLE}
    for experiment in EXPERIMENTS:
        for run in experiment.runs if experiment.section in sections else ():
            yield sampled(document(run, request))


def charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    """Figures of each experiment that was run."""
    sections = {row["section"] for row in rows if row["table"] == TABLE}
    made: dict[str, Chart] = {}
    for experiment in EXPERIMENTS:
        if experiment.section in sections:
            made |= _of(experiment, request, results)
    return made


def _of(experiment: Experiment, request: Request, results: Results) -> Mapping[str, Chart]:
    """The network is that of the first run over an overlay."""
    run, section = next(run for run in experiment.runs if run.with_best), experiment.section
    data = results[sampled(document(run, request))]
    named = f"{experiment.title} ({section}{f', {run.name}' if run.name else ''})"
    return {
        f"multicast-{section}": _chart(experiment, request, results),
        f"multicast-network-{section}": picture(data, f"{named}: the network"),
        f"multicast-network-over-time-{section}": history(
            data, f"{named}: loads and queues over time"
        ),
    }


def _chart(experiment: Experiment, request: Request, results: Results) -> Chart:
    found = [(run, document(run, request)) for run in experiment.runs]
    panels = [panel for run, of in found for panel in _panels(run, of, results[sampled(of)])]
    title = f"{experiment.title} ({experiment.section})"
    caption = "Payload delivered every 500 ms, by stream."
    if any(run.together for run in experiment.runs):
        caption += " First at one receiver, then of all streams to all receivers."
    return Chart(title, caption, panels, stacked=True)


def _panels(run: Run, scenario: Document, data: RunData) -> Iterator[Panel]:
    receivers = list(dict.fromkeys(flow["to"] for flow in scenario["flows"]))
    shown = receivers[: 1 if run.together else _SHOWN]
    # A stream has one colour at all receivers, which share a legend.
    streams = list(dict.fromkeys(label for at in shown for _, label in _to(scenario, at)))
    samples = data.flow.samples
    rates = 8 * samples["in_order_bytes"] / (samples.ends - samples.begins)[:, None]
    for receiver, (unit, scale, small) in product(shown, _SCALES):
        lines = [
            _line(label, samples.ends, rates[:, flow] / scale, streams.index(label))
            for flow, label in _to(scenario, receiver)
            if (_offered(scenario, flow) < _SMALL) == small
        ]
        if lines:
            title = f"{run.name} at {receiver}".strip()
            yield Panel("Time (s)", f"Goodput ({unit})", lines, title=title)
    if run.together:
        yield _of_all(f"{run.name} at all {len(receivers)}", samples.ends, rates / 1e6)


def _line(label: str, times: Values, rates: Values, index: int) -> Line:
    return Line(label, times, rates, color_of(index), dash=dash_of(index))


def _of_all(title: str, times: Values, rates: Values) -> Panel:
    """What streams get at their receivers: the mean, and from least to most."""
    span = Band(times, rates.min(axis=1), rates.max(axis=1), BLACK)
    mean = Line("mean; least to most", times, rates.mean(axis=1), BLACK)
    return Panel("Time (s)", "Goodput (Mbit/s)", [mean], bands=[span], title=title)


def _offered(scenario: Document, flow: int) -> float:
    return float(number(scenario["flows"][flow]["traffic"]["rate"]))


def _to(scenario: Document, receiver: str) -> list[tuple[int, str]]:
    flows = enumerate(scenario["flows"])
    return [(number, flow["label"]) for number, flow in flows if flow["to"] == receiver]
