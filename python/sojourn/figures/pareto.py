"""Throughput against delay over controls, with what no other control beats in both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sojourn.figures.chart import BLACK, Chart, Line, Panel, color_of
from sojourn.figures.plots import words

#: Throughput and delay of each control.
Points = Mapping[str, tuple[float, float]]
#: Colours do not tell more controls apart; they are named by their order in the legend.
_SHAPES = ("mark", "up", "down", "star")


def front(points: Points) -> list[str]:
    """The controls that no other beats in one of the two without losing in the other, by delay."""
    order = sorted(points, key=lambda name: (points[name][1], -points[name][0]))
    best, kept = -np.inf, []
    for name in order:
        if points[name][0] > best:
            best = points[name][0]
            kept.append(name)
    return kept


def pareto(paths: Mapping[str, Points]) -> Chart:
    """One panel for each path."""
    names = list(dict.fromkeys(name for points in paths.values() for name in points))
    panels = [_panel(path, points, names) for path, points in paths.items()]
    caption = (
        "Mean throughput against mean queueing delay of one flow on each path; the line joins the "
        "controls that no other beats in one without losing in the other (Pareto front)."
    )
    return Chart("Throughput and delay", caption, panels)


def _panel(path: str, points: Points, names: list[str]) -> Panel:
    best = front(points)
    delays, rates = [points[n][1] for n in best], [points[n][0] for n in best]
    lines = [Line("Pareto front", delays, rates, BLACK, dash="dotted")]
    for index, name in enumerate(names):
        if name in points:
            rate, delay = points[name]
            shape = _SHAPES[index // 7 % len(_SHAPES)]
            label = words.of_value(name)
            lines.append(Line(label, [delay], [rate], color_of(index), shape))  # type: ignore[arg-type]
    label = "Queueing delay (ms)"
    return Panel(label, "Throughput (Mbit/s)", lines, from_zero=False, title=path)
