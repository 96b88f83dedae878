"""Goodput over time, as the report plots it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.papers.gnat2021.sliq.phases import path_changes, run
from sojourn.papers.gnat2021.sliq.scenarios import document, with_control
from sojourn.papers.paper import Request
from sojourn.papers.statements import Row
from sojourn.scenario import Document

_TIME = "Time (s)"
_NAMES = {"sliq_cubic": "Cubic", "sliq_copa": "Copa"}


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """The figures of the sections that were run."""
    sections = {row["section"] for row in rows}
    made = {name: chart for section, name, chart in _CHARTS if section in sections}
    return {name: chart() for name, chart in made.items()}


def _rates(scenario: Document, names: Sequence[str], offset: int = 0) -> list[Line]:
    samples = run(scenario).flow.samples
    length = samples.ends - samples.begins
    rates = 8e-6 * samples["delivered_bytes"] / length[:, None]
    return [
        Line(name, samples.ends, rates[:, flow], color_of(flow + offset))
        for flow, name in enumerate(names)
    ]


def _both(experiment: str, title: str, caption: str) -> Chart:
    panels = []
    for index, (column, name) in enumerate(_NAMES.items()):
        scenario = with_control(document(experiment, Request()), column)
        panels.append(Panel(_TIME, "Goodput (Mbit/s)", _rates(scenario, [name], index)))
    return Chart(title, caption, panels, stacked=True)


def _speed() -> Chart:
    return _both("speed-changes", "The rate changes (3.1.6)", "Payload delivered, every 100 ms.")


def _delay() -> Chart:
    return _both("delay-changes", "The delay changes (3.1.8)", "Payload delivered, every 100 ms.")


def _path() -> Chart:
    lines = _rates(path_changes(Request()), ["goodput"])
    caption = "Loss of 0, 10, 20, 10 and 0 %, 24 s each; deadline 50 ms."
    title = "Adaptive error control while the loss changes (3.3.5)"
    return Chart(title, caption, [Panel(_TIME, "Goodput (Mbit/s)", lines)])


_CHARTS: tuple[tuple[str, str, Callable[[], Chart]], ...] = (
    ("3.1.6", "speed-changes", _speed),
    ("3.1.8", "delay-changes", _delay),
    ("3.3.5", "path-changes", _path),
)
