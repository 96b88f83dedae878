"""How long datagrams take in chapter 4, as distributions, with the overlay and without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.papers.gnat2021.overlay import runs
from sojourn.papers.gnat2021.overlay.cells import is_udp
from sojourn.papers.gnat2021.overlay.experiments import Experiment, Run
from sojourn.papers.paper import Request
from sojourn.scenario import Document

#: Points of a distribution.
_POINTS = np.linspace(0.0, 1.0, 201)


def chart(experiment: Experiment) -> Chart | None:
    """A panel for each run; none if all flows are TCP's."""
    panels = [panel for run in experiment.runs if (panel := _panel(experiment, run))]
    if not panels:
        return None
    title = f"{experiment.file} ({experiment.section}): latency"
    caption = (
        "Share of the datagrams that arrive within a time, each counted with the mean of its "
        "flow's 500 ms; from their admission. Dashed: without the overlay, on the shortest path."
    )
    return Chart(title, caption, panels, stacked=True)


def _panel(experiment: Experiment, run: Run) -> Panel | None:
    scenario = runs.document(experiment, run, Request())
    labels = dict.fromkeys(flow["label"] for flow in scenario["flows"])
    lines: list[Line] = []
    for index, label in enumerate(label for label in labels if is_udp(scenario, label)):
        color = color_of(index)
        lines += _line(label, scenario, label, color, "solid")
        lines += _line("", runs.plain(scenario), label, color, "dashed")
    if not lines:
        return None
    return Panel("Delay (ms)", "Share", lines, title=run.name, log_x=True)


def _line(name: str, scenario: Document, label: str, color: str, dash: str) -> Sequence[Line]:
    means, counts = runs.delays(scenario, label)
    if not len(means):
        return ()
    order = np.argsort(means)
    shares = np.cumsum(counts[order]) / counts.sum()
    places = np.searchsorted(shares, _POINTS, side="left").clip(max=len(means) - 1)
    return (Line(name, means[order][places], _POINTS, color, dash=dash),)
