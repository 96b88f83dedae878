"""How long datagrams take in chapter 4, as distributions, with the overlay and without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.campaign.cases import Results
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.metrics.columns import Values
from sojourn.reproduction.paper import Request
from sojourn_reproductions.gnat2021.overlay import runs
from sojourn_reproductions.gnat2021.overlay.cells import is_udp
from sojourn_reproductions.gnat2021.overlay.experiments import Experiment
from sojourn_reproductions.gnat2021.overlay.panels import Part, parts

#: Points of a distribution.
_POINTS = np.linspace(0.0, 1.0, 201)


def chart(experiment: Experiment, request: Request, results: Results) -> Chart | None:
    """None if all flows are TCP's."""
    found = (_panel(part, results) for part in parts(experiment, request))
    panels = [panel for panel in found if panel]
    if not panels:
        return None
    title = f"{experiment.file} ({experiment.section}): latency"
    caption = (
        "Share of the datagrams that arrive within a time, each counted with the mean of its "
        "flow's 500 ms; from their admission. Dashed: without the overlay, on the shortest path."
    )
    return Chart(title, caption, panels, stacked=True)


def _panel(part: Part, results: Results) -> Panel | None:
    lines: list[Line] = []
    with_, bare = (runs.sampled(each) for each in (part.scenario, runs.plain(part.scenario)))
    for index, label in part.groups:
        if is_udp(part.scenario, label):
            color = color_of(index)
            lines += _line(label, runs.delays(results[with_], label, part.node), color, "solid")
            lines += _line("", runs.delays(results[bare], label, part.node), color, "dashed")
    if not lines:
        return None
    return Panel("Delay (ms)", "Share", lines, title=part.title, log_x=True)


def _line(name: str, delays: tuple[Values, Values], color: str, dash: str) -> Sequence[Line]:
    means, counts = delays
    if not len(means):
        return ()
    order = np.argsort(means)
    shares = np.cumsum(counts[order]) / counts.sum()
    places = np.searchsorted(shares, _POINTS, side="left").clip(max=len(means) - 1)
    return (Line(name, means[order][places], _POINTS, color, dash=dash),)
