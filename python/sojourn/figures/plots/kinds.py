"""The kinds of figures: cells as charts."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np
import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.chart import (
    PALETTE,
    Band,
    Boxes,
    Heat,
    Line,
    Panel,
    Style,
    color_of,
    dash_of,
    zero_between,
)
from sojourn.figures.plots import words
from sojourn.figures.plots.asked import Asked, label_of, rows_at, title_of
from sojourn.figures.plots.by_size import by_size
from sojourn.figures.plots.cells import means
from sojourn.figures.plots.distributions import ccdf, ecdf
from sojourn.figures.thin import evenly
from sojourn.json_types import Scalar

#: Horizontal axes that span a larger factor are logarithmic.
_LOG_SPAN = 20
#: More series or panels than this are no figure.
MOST_SERIES, MOST_PANELS = 14, 12
_MOST_POINTS = 1500


def panels(asked: Asked, kind: str) -> list[Panel]:
    """A panel for each value of the facet."""
    for axis, most in ((asked.facet, MOST_PANELS), (asked.hue, MOST_SERIES)):
        if kind != "heat" and (count := len(asked.places(axis))) > most:
            raise ScenarioError(f"{axis}: {count} values; a figure holds {most}: use --where")
    draw = {"line": _lines, "series": _series, "box": _boxes, "heat": _heat}
    draw |= {"scatter": _scatter, "ecdf": ecdf, "ccdf": ccdf, "fct": by_size}
    return [draw[kind](asked, facet) for facet in asked.places(asked.facet)]


@dataclass(frozen=True)
class _Axis:
    """Where the values of an axis stand."""

    label: str
    positions: dict[Scalar, float]
    ticks: list[tuple[float, str]]
    log: bool = False
    #: Whether what lies between two values means something.
    joined: bool = True


def _axis(asked: Asked, axis: str) -> _Axis:
    """Quantities at their values, names in their order."""
    values = asked.places(axis)
    parts = [words.quantity(str(value)) for value in values]
    units = {unit for _, unit in parts}
    if len(values) < 2 or len(units) > 1 or any(isnan(number) for number, _ in parts):
        names = [(float(i), words.of_value(str(value))) for i, value in enumerate(values)]
        positions = {value: float(i) for i, value in enumerate(values)}
        return _Axis(words.of_path(axis), positions, names, joined=False)
    positions = {value: part[0] for value, part in zip(values, parts, strict=True)}
    least, most = min(positions.values()), max(positions.values())
    ticks = [(number, f"{number:g}") for number in sorted(positions.values())]
    label = words.with_unit(words.of_path(axis), units.pop())
    return _Axis(label, positions, ticks, log=least > 0 and most > _LOG_SPAN * least)


def _lines(asked: Asked, facet: Scalar) -> Panel:
    """Means with their intervals at the grid's values."""
    assert asked.x is not None
    axis = _axis(asked, asked.x)
    every = means(asked.found, asked.axes)
    lines = []
    for index, hue in enumerate(asked.places(asked.hue)):
        of = rows_at(asked, every, hue, facet)
        x = np.array([axis.positions[value] for value in of[asked.x]], dtype=float)
        order = np.argsort(x)
        mean, half = of["mean"].to_numpy(), of["half"].cast(pl.Float64).to_numpy()
        error = half[order] if np.isfinite(half).any() else None
        style: Style = "joined" if axis.joined else "mark"
        drawn = (x[order], mean[order], color_of(index), style, dash_of(index), error)
        lines.append(Line(label_of(asked, hue), *drawn))
    return Panel(
        axis.label,
        asked.y_label,
        lines,
        log_x=axis.log,
        title=title_of(asked, facet),
        ticks=axis.ticks,
    )


def _series(asked: Asked, facet: Scalar) -> Panel:
    """Means over time, with their intervals as bands."""
    every = means(asked.found, asked.axes)
    lines, bands = [], []
    for index, hue in enumerate(asked.places(asked.hue)):
        of = rows_at(asked, every, hue, facet).sort("time")
        x, mean = of["time"].to_numpy(), of["mean"].to_numpy()
        kept = evenly(len(x), _MOST_POINTS)
        lines.append(
            Line(label_of(asked, hue), x[kept], mean[kept], color_of(index), dash=dash_of(index))
        )
        half = of["half"].cast(pl.Float64).fill_null(0.0).to_numpy()
        if half.any():
            low, high = mean - half, mean + half
            bands.append(Band(x[kept], low[kept], high[kept], color_of(index)))
    return Panel("Time (s)", asked.y_label, lines, bands=bands, title=title_of(asked, facet))


def _boxes(asked: Asked, facet: Scalar) -> Panel:
    """The distribution at each place."""
    axis = asked.x or asked.hue
    hues = asked.places(asked.hue) if asked.x else [None]
    names = asked.places(axis) if axis else [None]
    boxes = []
    for index, hue in enumerate(hues):
        of = rows_at(asked, asked.found.rows, hue, facet) if asked.x else asked.found.rows
        values = [
            (of.filter(pl.col(axis).eq_missing(name)) if axis else of)["value"].to_numpy()
            for name in names
        ]
        texts = [words.of_value(str(name)) if axis else "" for name in names]
        boxes.append(Boxes(texts, values, color_of(index), label_of(asked, hue) if asked.x else ""))
    label = words.of_path(axis) if axis else ""
    return Panel(label, asked.y_label, [], boxes=boxes, title=title_of(asked, facet))


def _heat(asked: Asked, facet: Scalar) -> Panel:
    """Means of two axes against each other: x across, hue up."""
    if asked.x is None or asked.hue is None:
        raise ScenarioError("--hue: a heat map needs --x (across) and --hue (up)")
    across, up = _sorted(asked, asked.x), _sorted(asked, asked.hue)
    of = means(asked.found, asked.axes)
    limits = float(of["mean"].min()), float(of["mean"].max())  # type: ignore[arg-type]
    if asked.facet is not None:
        of = of.filter(pl.col(asked.facet).eq_missing(facet))
    known = {(row[asked.x], row[asked.hue]): row["mean"] for row in of.iter_rows(named=True)}
    values = np.array([[known.get((x, y), np.nan) for x in across] for y in up], dtype=float)
    columns, rows = ([words.of_value(str(v)) for v in axis] for axis in (across, up))
    middle = zero_between(limits)
    heat = Heat(columns, rows, values, asked.y_label, limits=limits, middle=middle)
    labels = words.of_path(asked.x), words.of_path(asked.hue)
    return Panel(*labels, [], heat=heat, title=title_of(asked, facet))


def _sorted(asked: Asked, axis: str) -> list[Scalar]:
    positions = _axis(asked, axis).positions
    return sorted(positions, key=lambda value: positions[value])


def _scatter(asked: Asked, facet: Scalar) -> Panel:
    """A point for each run and member."""
    lines = []
    for index, hue in enumerate(asked.places(asked.hue)):
        of = rows_at(asked, asked.found.rows, hue, facet)
        color = color_of(index) if asked.hue else PALETTE[0]
        kept = evenly(len(of), _MOST_POINTS)
        x, y = of["across"].to_numpy()[kept], of["value"].to_numpy()[kept]
        lines.append(Line(label_of(asked, hue), x, y, color, "dots"))
    title = title_of(asked, facet)
    return Panel(asked.x_label, asked.y_label, lines, from_zero=False, title=title)
