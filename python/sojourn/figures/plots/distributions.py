"""Distributions: what share of the values lies below, or above."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import Line, Panel, color_of, dash_of
from sojourn.figures.plots.asked import Asked, label_of, rows_at, title_of
from sojourn.figures.thin import evenly
from sojourn.json_types import Scalar

_MOST_POINTS = 1500
#: So many of the largest values are all drawn where these are what one looks for.
_TAIL = 300


def ecdf(asked: Asked, facet: Scalar) -> Panel:
    """The empirical cumulative distribution."""
    lines = []
    for index, hue in enumerate(asked.places(asked.hue)):
        known = np.sort(rows_at(asked, asked.found.rows, hue, facet)["value"].to_numpy())
        if not len(known):
            continue
        kept = evenly(len(known), _MOST_POINTS)
        x = np.concatenate([known[:1], known[kept]])
        y = np.concatenate([[0.0], (kept + 1) / len(known)])
        lines.append(Line(label_of(asked, hue), x, y, color_of(index), "step", dash_of(index)))
    return Panel(asked.y_label, "Share of values", lines, title=title_of(asked, facet))


def ccdf(asked: Asked, facet: Scalar) -> Panel:
    """The share of values above each, on logarithmic axes: how heavy the tail is."""
    lines = []
    for index, hue in enumerate(asked.places(asked.hue)):
        known = np.sort(rows_at(asked, asked.found.rows, hue, facet)["value"].to_numpy())
        if not len(known):
            continue
        count = len(known)
        tail = np.arange(max(0, count - _TAIL), count)
        kept = np.union1d(evenly(count, _MOST_POINTS), tail)
        # The last value has none above it, which has no place on a logarithmic axis.
        x = np.concatenate([known[:1], known[kept]])
        y = np.concatenate([[1.0], (count - 1 - kept[:-1]) / count, [1 / count]])
        lines.append(Line(label_of(asked, hue), x, y, color_of(index), "step", dash_of(index)))
    positive = all(np.min(line.x) > 0 for line in lines)
    return Panel(
        asked.y_label,
        "Share of values above",
        lines,
        from_zero=False,
        log_x=positive,
        log_y=True,
        title=title_of(asked, facet),
    )
