"""Distributions: what share of the values lies below, or above."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.figures.chart import Panel
from sojourn.figures.plots.asked import Asked, Place, line_of, rows_at
from sojourn.figures.thin import evenly
from sojourn.json_types import Scalar
from sojourn.metrics.columns import Values

_MOST_POINTS = 1500
#: So many of the largest values are all drawn where these are what one looks for.
_TAIL = 300


def ecdf(asked: Asked, place: Place) -> Panel:
    """The empirical cumulative distribution."""
    lines = []
    for hue, known in _values(asked, place):
        kept = evenly(len(known), _MOST_POINTS)
        x = np.concatenate([known[:1], known[kept]])
        y = np.concatenate([[0.0], (kept + 1) / len(known)])
        lines.append(line_of(asked, hue, x, y, "step"))
    return Panel(asked.y_label, "Share of values", lines)


def ccdf(asked: Asked, place: Place) -> Panel:
    """The share of values above each, on logarithmic axes: how heavy the tail is."""
    lines = []
    for hue, known in _values(asked, place):
        count = len(known)
        tail = np.arange(max(0, count - _TAIL), count)
        kept = np.union1d(evenly(count, _MOST_POINTS), tail)
        # The last value has none above it, which has no place on a logarithmic axis.
        x = np.concatenate([known[:1], known[kept]])
        y = np.concatenate([[1.0], (count - 1 - kept[:-1]) / count, [1 / count]])
        lines.append(line_of(asked, hue, x, y, "step"))
    positive = all(np.min(line.x) > 0 for line in lines)
    label = "Share of values above"
    return Panel(asked.y_label, label, lines, from_zero=False, log_x=positive, log_y=True)


def _values(asked: Asked, place: Place) -> Iterator[tuple[Scalar, Values]]:
    """Those of each colour that has any, sorted."""
    for hue in asked.places(asked.hue):
        rows = rows_at(asked, asked.found.rows, place, hue)
        if len(rows):
            yield hue, np.sort(rows["value"].to_numpy())
