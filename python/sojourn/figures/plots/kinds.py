"""The kinds of figures: cells as charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.chart import Band, Boxes, Heat, Panel, Style, color_of, zero_between
from sojourn.figures.plots import words
from sojourn.figures.plots.asked import Asked, Place, in_panel, label_of, line_of, rows_at
from sojourn.figures.plots.by_size import by_size
from sojourn.figures.plots.distributions import ccdf, ecdf
from sojourn.figures.plots.states import states
from sojourn.figures.thin import evenly
from sojourn.json_types import Scalar

#: Horizontal axes that span a larger factor are logarithmic.
_LOG_SPAN = 20
#: More series or panels than this are no figure.
MOST_SERIES, MOST_PANELS = 14, 20
_MOST_POINTS = 1500
#: Marks at one name take so much of the distance to the next.
_BESIDE = 0.5
#: With more values an axis has round numbers instead of these.
_MOST_TICKS = 16


def panels(asked: Asked, kind: str) -> list[Panel]:
    """A panel for each value of the axes of rows and columns, row by row."""
    if kind != "heat" and (count := len(asked.places(asked.hue))) > MOST_SERIES:
        raise ScenarioError(
            f"{asked.hue}: {count} values; a figure holds {MOST_SERIES}: use --where"
        )
    if (count := len(asked.panels())) > MOST_PANELS:
        axes = " and ".join(filter(None, (asked.rows, asked.columns)))
        raise ScenarioError(f"{axes}: {count} panels; a figure holds {MOST_PANELS}: use --where")
    draw = {"line": _lines, "series": _series, "box": _boxes, "heat": _heat, "state": states}
    draw |= {"scatter": _scatter, "ecdf": ecdf, "ccdf": ccdf, "fct": by_size}
    return [
        replace(
            draw[kind](asked, (row, column)),
            title=words.of_place(asked.columns, column) if asked.columns else "",
            aside=words.of_place(asked.rows, row) if asked.rows else "",
        )
        for row, column in asked.panels()
    ]


@dataclass(frozen=True)
class _Axis:
    """Where the values of an axis stand."""

    label: str
    positions: Mapping[Scalar, float]
    ticks: list[tuple[float, str]]
    log: bool = False
    #: Whether what lies between two values means something.
    joined: bool = True


def _axis(asked: Asked, axis: str) -> _Axis:
    """Quantities at their values, names in their order."""
    values = asked.places(axis)
    parts = [words.quantity(str(value)) for value in values]
    units = {unit for _, unit in parts}
    if len(values) < 2 or len(units) > 1 or any(words.is_name(str(value)) for value in values):
        names = [(float(i), words.of_value(value)) for i, value in enumerate(values)]
        positions = {value: float(i) for i, value in enumerate(values)}
        return _Axis(words.of_path(axis), positions, names, joined=False)
    positions = {value: part[0] for value, part in zip(values, parts, strict=True)}
    least, most = min(positions.values()), max(positions.values())
    ticks = [(number, f"{number:g}") for number in sorted(positions.values())]
    label = words.with_unit(words.of_path(axis), units.pop())
    log = least > 0 and most > _LOG_SPAN * least
    return _Axis(label, positions, ticks if len(ticks) <= _MOST_TICKS else [], log=log)


def _lines(asked: Asked, place: Place) -> Panel:
    """Means with their intervals at the grid's values."""
    assert asked.x is not None
    axis = _axis(asked, asked.x)
    style: Style = "joined" if axis.joined else "mark"
    hues = asked.places(asked.hue)
    # Marks at one name stand beside each other.
    step = 0.0 if axis.joined or asked.hue == asked.x else _BESIDE / len(hues)
    lines = []
    for index, hue in enumerate(hues):
        of = rows_at(asked, asked.means, place, hue)
        x = np.array([axis.positions[value] for value in of[asked.x]], dtype=float)
        x += step * (index - (len(hues) - 1) / 2)
        order = np.argsort(x)
        mean, half = of["mean"].to_numpy(), of["half"].cast(pl.Float64).to_numpy()
        error = half[order] if np.isfinite(half).any() else None
        lines.append(line_of(asked, hue, x[order], mean[order], style, error))
    return Panel(axis.label, asked.y_label, lines, log_x=axis.log, ticks=axis.ticks)


def _series(asked: Asked, place: Place) -> Panel:
    """Means over time, with their intervals as bands."""
    lines, bands = [], []
    for hue in asked.places(asked.hue):
        of = rows_at(asked, asked.means, place, hue).sort("time")
        x, mean = of["time"].to_numpy(), of["mean"].to_numpy()
        kept = evenly(len(x), _MOST_POINTS)
        line = line_of(asked, hue, x[kept], mean[kept])
        lines.append(line)
        half = of["half"].cast(pl.Float64).fill_null(0.0).to_numpy()
        if half.any():
            low, high = mean - half, mean + half
            bands.append(Band(x[kept], low[kept], high[kept], line.color))
    return Panel("Time (s)", asked.y_label, lines, bands=bands)


def _boxes(asked: Asked, place: Place) -> Panel:
    """The distribution at each place."""
    axis = asked.x or asked.hue
    hues = asked.places(asked.hue) if asked.x else [None]
    names = asked.places(axis)
    boxes = []
    for index, hue in enumerate(hues):
        rows = asked.found.rows
        of = rows_at(asked, rows, place, hue) if asked.x else in_panel(asked, rows, place)
        values = [
            (of.filter(pl.col(axis).eq_missing(name)) if axis else of)["value"].to_numpy()
            for name in names
        ]
        texts = [words.of_value(name) if axis else "" for name in names]
        boxes.append(Boxes(texts, values, color_of(index), label_of(asked, hue) if asked.x else ""))
    return Panel(words.of_path(axis) if axis else "", asked.y_label, [], boxes=boxes)


def _heat(asked: Asked, place: Place) -> Panel:
    """Means of two axes against each other: x across, hue up."""
    if asked.x is None or asked.hue is None:
        raise ScenarioError("--hue: a heat map needs --x (across) and --hue (up)")
    across, up = _sorted(asked, asked.x), _sorted(asked, asked.hue)
    means = asked.means["mean"].to_numpy()
    limits = float(means.min()), float(means.max())
    of = in_panel(asked, asked.means, place)
    known = {(row[asked.x], row[asked.hue]): row["mean"] for row in of.iter_rows(named=True)}
    values = np.array([[known.get((x, y), np.nan) for x in across] for y in up], dtype=float)
    columns, rows = ([words.of_value(v) for v in axis] for axis in (across, up))
    middle = zero_between(limits)
    heat = Heat(columns, rows, values, asked.y_label, limits=limits, middle=middle)
    return Panel(words.of_path(asked.x), words.of_path(asked.hue), [], heat=heat)


def _sorted(asked: Asked, axis: str) -> list[Scalar]:
    positions = _axis(asked, axis).positions
    return sorted(positions, key=lambda value: positions[value])


def _scatter(asked: Asked, place: Place) -> Panel:
    """A point for each run and member."""
    lines = []
    for hue in asked.places(asked.hue):
        of = rows_at(asked, asked.found.rows, place, hue)
        kept = evenly(len(of), _MOST_POINTS)
        x, y = of["across"].to_numpy()[kept], of["value"].to_numpy()[kept]
        lines.append(line_of(asked, hue, x, y, "dots"))
    return Panel(asked.x_label, asked.y_label, lines, from_zero=False)
