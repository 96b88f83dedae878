"""Figures of sections 3.1 to 3.3: rates over time as the report plots them, grids of 3.3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from sojourn.figures.chart import BLACK, Chart, Line, Panel, color_of
from sojourn.papers.gnat2021.sliq import adaptive, delays, outages, series
from sojourn.papers.gnat2021.sliq.phases import path_changes, run
from sojourn.papers.gnat2021.sliq.scenarios import SLIQ, document, with_control
from sojourn.papers.gnat2021.sliq.series import CLIENT, SERVER, Series
from sojourn.papers.gnat2021.sliq.steps import phases
from sojourn.papers.paper import Request
from sojourn.papers.statements import Row
from sojourn.scenario import Document

_TIME, _RATE = "Time (s)", "Mbit/s"
_NAMES = dict(zip(SLIQ, ("Cubic", "Copa"), strict=True))
_ENDS = "Frames sent and received, every 100 ms."


def charts(rows: Sequence[Row], request: Request) -> Mapping[str, Chart]:
    """The figures of the sections that were run."""
    sections = {row["section"] for row in rows}
    drawn = {name: chart(request) for section, name, chart in _OVER_TIME if section in sections}
    grids = {name: make(rows) for section, name, make in _GRIDS if section in sections}
    return {**drawn, **{name: chart for name, chart in grids.items() if chart}}


def _line(name: str, values: Series, color: str, dash: str = "solid") -> Line:
    return Line(name, values.ends, values.values, color, dash=dash)


def _sent_and_received(scenario: Document, sender: int = CLIENT) -> list[Line]:
    data = run(scenario)
    return [
        _line("sent", series.sent(data, sender), color_of(1)),
        _line("received", series.received(data, sender), color_of(0)),
    ]


def _both(experiment: str, title: str, caption: str, request: Request) -> Chart:
    panels = []
    for control, name in _NAMES.items():
        scenario = with_control(document(experiment, request), control)
        rates = series.received(run(scenario))
        panels.append(Panel(_TIME, _RATE, [_line(name, rates, BLACK)], title=name))
    return Chart(title, caption, panels, stacked=True)


def _sharing(request: Request) -> Chart:
    panels = []
    for control, name in _NAMES.items():
        data = run(with_control(document("sharing", request), control))
        lines = [
            _line(which, series.delivered(data, flow).windows(1.0), color_of(flow))
            for flow, which in enumerate(("first flow", "second flow"))
        ]
        together = _line("both, frames", series.received(data).windows(1.0), BLACK, "dashed")
        panels.append(Panel(_TIME, _RATE, [*lines, together], title=name))
    caption = "Payload of each flow and frames of both together, every second."
    return Chart("Two flows with one control (3.1.3)", caption, panels, stacked=True)


def _capacity(request: Request) -> Chart:
    panels = []
    for control, name in _NAMES.items():
        scenario = with_control(document("capacity", request), control)
        known = series.capacity(run(scenario))
        estimates = Line("estimate", known.ends, known.values, color_of(1), style="points")
        panels.append(Panel(_TIME, _RATE, [_rates(scenario), estimates], title=name))
    caption = "LinkEm's rate and the sender's estimate, every 100 ms."
    return Chart("Estimates of the capacity (3.1.9)", caption, panels, stacked=True)


def _rates(scenario: Document) -> Line:
    points = [(t, phase.rate) for phase in phases(scenario) for t in (phase.begin, phase.end)]
    times, rates = zip(*points, strict=True)
    return Line("LinkEm", times, rates, color_of(2))


def _dual(experiment: str, title: str, request: Request) -> Chart:
    lines = _sent_and_received(document(experiment, request))
    return Chart(title, _ENDS, [Panel(_TIME, _RATE, lines)])


def _outage(section: str, request: Request) -> Chart:
    experiment, length = outages.LENGTHS[section]
    scenario = document(experiment, request)
    data = run(scenario)
    panels = [
        Panel(
            _TIME,
            _RATE,
            [
                _line("sent", series.sent(data, side), color_of(1)),
                _line("received", series.received(data, other), color_of(0)),
            ],
            title=name,
        )
        for name, side, other in (("client", CLIENT, SERVER), ("server", SERVER, CLIENT))
    ]
    ways = "from server to client" if "one-way" in experiment else "of both directions"
    return Chart(f"Outage of {length:g} s {ways} ({section})", _ENDS, panels, stacked=True)


def _path(request: Request) -> Chart:
    rates = series.delivered(run(path_changes(request)))
    caption = "Payload; loss of 0, 10, 20, 10 and 0 %, 24 s each; deadline 50 ms."
    title = "Adaptive error control while the loss changes (3.3.5)"
    return Chart(title, caption, [Panel(_TIME, _RATE, [_line("goodput", rates, BLACK)])])


def _delays(request: Request) -> Chart:
    panels = []
    for deadline in delays.DEADLINES:
        bins, shares = delays.histogram(deadline, request)
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


_OVER_TIME: tuple[tuple[str, str, Callable[[Request], Chart]], ...] = (
    ("3.1.3", "sharing", _sharing),
    (
        "3.1.6",
        "speed-changes",
        partial(_both, "speed-changes", "The rate changes (3.1.6)", "Frames received."),
    ),
    (
        "3.1.8",
        "delay-changes",
        partial(_both, "delay-changes", "The delay changes (3.1.8)", "Frames received."),
    ),
    ("3.1.9", "capacity", _capacity),
    ("3.2.2", "dual-speed", partial(_dual, "dual-speed", "In parallel, rate changes (3.2.2)")),
    ("3.2.3", "dual-delay", partial(_dual, "dual-delay", "In parallel, delay changes (3.2.3)")),
    ("3.2.4", "dual-loss", partial(_dual, "dual-loss", "In parallel, loss changes (3.2.4)")),
    (
        "3.2.5",
        "dual-delay-and-loss",
        partial(_dual, "dual-delay-and-loss", "In parallel, 10 % loss, delay changes (3.2.5)"),
    ),
    *((section, f"outage-{section}", partial(_outage, section)) for section in outages.LENGTHS),
    ("3.3.4", "delivery-delays", _delays),
    ("3.3.5", "path-changes", _path),
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
