"""Figures of sections 3.1 to 3.3: rates over time as the report plots them, grids of 3.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sojourn.campaign.cases import Results, Sampled
from sojourn.figures.chart import BLACK, Chart, Line, Panel, color_of
from sojourn.metrics import RunData
from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import Row
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.sliq import adaptive, delays, outages, series
from sojourn_reproductions.gnat2021.sliq.phases import path_changes
from sojourn_reproductions.gnat2021.sliq.scenarios import SLIQ, document, sampled, with_control
from sojourn_reproductions.gnat2021.sliq.series import CLIENT, SERVER, Series
from sojourn_reproductions.gnat2021.sliq.steps import phases

_TIME, _RATE = "Time (s)", "Mbit/s"
_NAMES = dict(zip(SLIQ, ("Cubic", "Copa"), strict=True))
_FRAMES = "Frames sent and received, every 100 ms."


#: What a figure is drawn of.
_Runs = Sequence[tuple[Document, RunData]]


@dataclass(frozen=True)
class _OverTime:
    """A figure of runs."""

    section: str
    name: str
    #: The scenarios of the runs that it shows.
    scenarios: Callable[[Request], Sequence[Document]]
    draw: Callable[[_Runs], Chart]


def drawn(keys: Sequence[Mapping[str, Any]], request: Request) -> Iterator[Sampled]:
    """The runs of the figures."""
    sections = {key["section"] for key in keys}
    for figure in _OVER_TIME:
        if figure.section in sections:
            yield from map(sampled, figure.scenarios(request))


def charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    """The figures of the sections that were run."""
    sections = {row["section"] for row in rows}
    made = {}
    for figure in _OVER_TIME:
        if figure.section in sections:
            scenarios = figure.scenarios(request)
            runs = [(scenario, results[sampled(scenario)]) for scenario in scenarios]
            made[figure.name] = figure.draw(runs)
    grids = {name: make(rows) for section, name, make in _GRIDS if section in sections}
    return {**made, **{name: chart for name, chart in grids.items() if chart}}


def _each(experiment: str, request: Request) -> list[Document]:
    """An experiment's scenario with each of SLIQ's controls."""
    return [with_control(document(experiment, request), control) for control in _NAMES]


def _one(experiment: str, request: Request) -> list[Document]:
    return [document(experiment, request)]


def _line(name: str, values: Series, color: str, dash: str = "solid") -> Line:
    return Line(name, values.ends, values.values, color, dash=dash)


def _both(title: str, caption: str, runs: _Runs) -> Chart:
    panels = []
    for name, (_, data) in zip(_NAMES.values(), runs, strict=True):
        panels.append(Panel(_TIME, _RATE, [_line(name, series.received(data), BLACK)], title=name))
    return Chart(title, caption, panels, stacked=True)


def _sharing(runs: _Runs) -> Chart:
    panels = []
    for name, (_, data) in zip(_NAMES.values(), runs, strict=True):
        lines = [
            _line(which, series.delivered(data, flow).windows(1.0), color_of(flow))
            for flow, which in enumerate(("first flow", "second flow"))
        ]
        together = _line("both, frames", series.received(data).windows(1.0), BLACK, "dashed")
        panels.append(Panel(_TIME, _RATE, [*lines, together], title=name))
    caption = "Payload of each flow and frames of both together, every second."
    return Chart("Two flows with one control (3.1.3)", caption, panels, stacked=True)


def _capacity(runs: _Runs) -> Chart:
    panels = []
    for name, (scenario, data) in zip(_NAMES.values(), runs, strict=True):
        known = series.capacity(data)
        estimates = Line("estimate", known.ends, known.values, color_of(1), style="points")
        panels.append(Panel(_TIME, _RATE, [_rates(scenario), estimates], title=name))
    caption = "LinkEm's rate and the sender's estimate, every 100 ms."
    return Chart("Estimates of the capacity (3.1.9)", caption, panels, stacked=True)


def _rates(scenario: Document) -> Line:
    points = [(t, phase.rate) for phase in phases(scenario) for t in (phase.begin, phase.end)]
    times, rates = zip(*points, strict=True)
    return Line("LinkEm", times, rates, color_of(2))


def _ends(data: RunData, side: int, other: int) -> list[Line]:
    """What one side sends, and what it receives of the other's."""
    return [
        _line("sent", series.sent(data, side), color_of(1)),
        _line("received", series.received(data, other), color_of(0)),
    ]


def _dual(title: str, runs: _Runs) -> Chart:
    [(_, data)] = runs
    return Chart(title, _FRAMES, [Panel(_TIME, _RATE, _ends(data, CLIENT, CLIENT))])


def _outage(section: str, runs: _Runs) -> Chart:
    experiment, length = outages.LENGTHS[section]
    [(_, data)] = runs
    panels = [
        Panel(_TIME, _RATE, _ends(data, side, other), title=name)
        for name, side, other in (("client", CLIENT, SERVER), ("server", SERVER, CLIENT))
    ]
    ways = "from server to client" if "one-way" in experiment else "of both directions"
    return Chart(f"Outage of {length:g} s {ways} ({section})", _FRAMES, panels, stacked=True)


def _path(runs: _Runs) -> Chart:
    [(_, data)] = runs
    rates = series.delivered(data)
    caption = "Payload; loss of 0, 10, 20, 10 and 0 %, 24 s each; deadline 50 ms."
    title = "Adaptive error control while the loss changes (3.3.5)"
    return Chart(title, caption, [Panel(_TIME, _RATE, [_line("goodput", rates, BLACK)])])


def _delays(runs: _Runs) -> Chart:
    panels = []
    for deadline, (_, data) in zip(delays.deadlines(), runs, strict=True):
        bins, shares = delays.histogram(data)
        limit = Line("deadline", [deadline, deadline], [0, max(shares)], color_of(1), dash="dashed")
        messages = Line("messages", bins, shares, BLACK, style="step")
        panels.append(Panel("Delay (ms)", "%", [messages, limit], title=f"{deadline} ms"))
    caption = (
        "40 % loss; share of the messages per millisecond of delay; first and last 5 s left out."
    )
    return Chart("Delivery delays by deadline (3.3.4)", caption, panels, stacked=True)


def _grid(
    table: str, columns: Mapping[str, str], title: str, label: str, rows: Sequence[Row]
) -> Chart | None:
    """A line per deadline over the rate of loss, a panel per column."""
    panels = []
    for column, name in columns.items():
        found = {
            row["row"]: row["measured"]
            for row in rows
            if row["table"] == table and row["column"] == column and row["measured"] is not None
        }
        lines = [line for each in enumerate(adaptive.DEADLINES) if (line := _by_loss(found, *each))]
        if lines:
            panels.append(Panel("Packet error rate", label, lines, title=name))
    caption = "A line per deadline; median over the seeds."
    return Chart(title, caption, panels, stacked=True) if panels else None


def _by_loss(found: Mapping[str, float], index: int, deadline: int) -> Line | None:
    names = {rate: f"per={rate:g},deadline_ms={deadline}" for rate in adaptive.RATES}
    points = [(rate, found[name]) for rate, name in names.items() if name in found]
    if not points:
        return None
    rates, values = zip(*points, strict=True)
    dash = "solid" if index < 4 else "dashed"
    return Line(f"{deadline} ms", rates, values, color_of(index), "joined", dash)


#: Section, experiment and title of the figures of Cubic and Copa, one beside the other.
_CHANGES = (
    ("3.1.6", "speed-changes", "The rate changes (3.1.6)"),
    ("3.1.8", "delay-changes", "The delay changes (3.1.8)"),
)
#: ... and of both in parallel.
_DUAL = (
    ("3.2.2", "dual-speed", "In parallel, rate changes (3.2.2)"),
    ("3.2.3", "dual-delay", "In parallel, delay changes (3.2.3)"),
    ("3.2.4", "dual-loss", "In parallel, loss changes (3.2.4)"),
    ("3.2.5", "dual-delay-and-loss", "In parallel, 10 % loss, delay changes (3.2.5)"),
)
_OVER_TIME = (
    _OverTime("3.1.3", "sharing", partial(_each, "sharing"), _sharing),
    *(
        _OverTime(section, name, partial(_each, name), partial(_both, title, "Frames received."))
        for section, name, title in _CHANGES
    ),
    _OverTime("3.1.9", "capacity", partial(_each, "capacity"), _capacity),
    *(
        _OverTime(section, name, partial(_one, name), partial(_dual, title))
        for section, name, title in _DUAL
    ),
    *(
        _OverTime(section, f"outage-{section}", partial(_one, name), partial(_outage, section))
        for section, (name, _) in outages.LENGTHS.items()
    ),
    _OverTime(
        "3.3.4",
        "delivery-delays",
        lambda request: [delays.close(request, deadline) for deadline in delays.deadlines()],
        _delays,
    ),
    _OverTime("3.3.5", "path-changes", lambda request: [path_changes(request)], _path),
)
_GRIDS: tuple[tuple[str, str, Callable[[Sequence[Row]], Chart | None]], ...] = (
    (
        "3.3.2",
        "aec-goodput",
        partial(
            _grid,
            adaptive.GOODPUT,
            {"raw_goodput_mbit": ""},
            "Raw goodput of adaptive error control (3.3.2)",
            "Raw goodput (Mbit/s)",
        ),
    ),
    (
        "3.3.3",
        "aec-efficiency",
        partial(
            _grid,
            adaptive.EFFICIENCY,
            {adaptive.MEASURED: "measured", adaptive.PREDICTED: "predicted"},
            "Efficiency of adaptive error control (3.3.3)",
            "Efficiency (%)",
        ),
    ),
)
