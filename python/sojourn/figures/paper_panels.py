"""Panels of charts for papers: what is drawn on one pair of axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from sojourn.figures import paper_graph, paper_notes
from sojourn.figures.chart import BLACK, DIVERGING, Boxes, Forest, Heat, Line, Panel, Spans
from sojourn.numbers import number

_MARKERS = {
    "dots": ("o", 4.5),
    "mark": ("o", 8.0),
    "star": ("*", 14.0),
    "up": ("^", 8.0),
    "down": ("v", 8.0),
}
#: Lines of many points have their mark where they begin to be told apart, and at such shares of the
#: panel's diagonal from there on.
_NOW_AND_THEN = (0.06, 0.22)
#: Logarithmic axes that span no larger factor have few powers of ten.
_FEW = 100
#: Boxes at one name take so much of the distance to the next.
_BOX = 0.6
#: ... and spans of the distance between theirs.
_SPAN = 0.6
#: Names along an axis that have more letters than this to the inch stand upright.
_MOST_LETTERS = 13
#: Upright names are this large together (points), but none below the least and above the largest.
_UPRIGHT_SIZE, _LEAST_SIZE, _LARGEST_SIZE = 160, 5, 9
#: Larger heat maps, and those with narrower cells (inches), carry no numbers.
_MOST_NUMBERS, _NUMBER = 100, 0.3
#: Colours of maps: of values that differ from another in either direction, and of all others.
_DIVERGING, _SEQUENTIAL = LinearSegmentedColormap.from_list("diverging", DIVERGING), "cividis"
#: Names of levels of the vertical axis are this large together (points).
_LEVELS_SIZE = 70
#: Names within stretches are this large (points); what is brighter has black letters on it.
_WRITTEN, _BRIGHT = 7, 0.45
#: With more columns every second one of a heat map is named, or fewer.
_MOST_NAMES = 24


def draw(figure: Figure, ax: Axes, panel: Panel) -> None:
    """Draws what a panel shows."""
    if panel.graph:
        paper_graph.draw(figure, ax, panel.graph)
    for band in panel.bands:
        ax.fill_between(band.x, band.low, band.high, color=band.color, alpha=0.2, linewidth=0)
    for line in panel.lines:
        _draw_line(ax, line)
    if panel.boxes:
        _draw_boxes(ax, panel.boxes)
    if panel.heat:
        _draw_heat(figure, ax, panel.heat)
    if panel.forest:
        _draw_forest(ax, panel.forest)
    _draw_spans(ax, panel.spans)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    ax.set_title(panel.title, fontsize="medium")
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
        _label_between(ax.yaxis)
    if panel.ticks:
        ax.set_xticks([at for at, _ in panel.ticks], [name for _, name in panel.ticks])
        ax.minorticks_off()
        _fit_names(ax, [name for _, name in panel.ticks])
    if panel.levels:
        size = min(_LARGEST_SIZE, _LEVELS_SIZE / len(panel.levels))
        ax.set_yticks(range(len(panel.levels)), list(panel.levels), fontsize=size)
        ax.set_ylim(-0.6, len(panel.levels) - 0.4)
    paper_notes.draw(ax, panel.notes)


def _label_between(axis: Axis) -> None:
    """Names 2 and 5 as well, where an axis has few powers of ten."""
    low, high = axis.get_view_interval()
    if high < _FEW * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")


def begin_at_zero(axes: Sequence[Axes]) -> None:
    """Lets the vertical axis that they share begin at zero or below."""
    low, high = axes[0].get_ylim()
    shown = [ax.dataLim for ax in axes if np.isfinite(ax.dataLim.height)]
    if shown and all(of.height == 0 for of in shown):  # one value has no span to make an axis of
        low, high = sorted((0.0, float(max(of.ymax for of in shown)) or 1.0))
    axes[0].set_ylim(min(0, low), high + 0.05 * (high - min(0, low)))


def _draw_boxes(ax: Axes, boxes: Sequence[Boxes]) -> None:
    names = boxes[0].names
    width = _BOX / len(boxes)
    for place, of in enumerate(boxes):
        shift = (place - (len(boxes) - 1) / 2) * width
        drawn = ax.boxplot(
            [np.asarray(values) for values in of.values],
            positions=[at + shift for at in range(len(names))],
            widths=0.8 * width,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": of.color, "alpha": 0.4},
            medianprops={"color": BLACK},
            flierprops={"markersize": 3},
        )
        if of.label:
            drawn["boxes"][0].set_label(of.label)
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)
    _fit_names(ax, names)


def _fit_names(ax: Axes, names: Sequence[str]) -> None:
    """Turns names along the horizontal axis upright, and makes them small, where they are many."""
    if max(map(len, names)) * len(names) > _MOST_LETTERS * _inches(ax):
        size = min(_LARGEST_SIZE, max(_LEAST_SIZE, _UPRIGHT_SIZE / len(names)))
        ax.tick_params(axis="x", rotation=90, labelsize=size)


def _inches(ax: Axes) -> float:
    """Its width."""
    return float(ax.get_window_extent().width) / ax.figure.dpi


def _draw_heat(figure: Figure, ax: Axes, heat: Heat) -> None:
    values = np.asarray(heat.values, dtype=float)
    norm = (LogNorm if heat.log else Normalize)(*heat.ends())
    colors = _SEQUENTIAL if heat.middle is None else _DIVERGING
    image = ax.imshow(values, origin="lower", aspect="auto", cmap=colors, norm=norm)
    every = ceil(len(heat.columns) / _MOST_NAMES)
    ax.set_xticks(range(0, len(heat.columns), every), heat.columns[::every])
    ax.set_yticks(range(len(heat.rows)), heat.rows)
    ax.grid(visible=False)
    ticks, form = (LogLocator(subs=(1, 2, 5)), "%g") if heat.log else (None, None)
    bar = figure.colorbar(image, ax=ax, label=heat.label, ticks=ticks, format=form)
    bar.ax.minorticks_off()
    figure.draw_without_rendering()  # Now it is known what room the colours leave.
    _fit_names(ax, heat.columns[::every])
    if values.size > _MOST_NUMBERS or _inches(ax) / len(heat.columns) < _NUMBER:
        return
    for (row, column), value in np.ndenumerate(values):
        color = "white" if _luminance(image.to_rgba(value)) < _BRIGHT else BLACK
        ax.text(column, row, number(float(value)), ha="center", va="center", color=color)


def _luminance(color: NDArray[np.float64]) -> float:
    """How bright a colour seems, from 0 to 1."""
    return float(np.dot(color[:3], (0.299, 0.587, 0.114)))


def _draw_forest(ax: Axes, forest: Forest) -> None:
    places = range(len(forest.names))
    ax.set_xlim(*forest.span())
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.hlines(places, forest.lows, forest.highs, colors=list(forest.colors), linewidth=1.2)
    ax.scatter(forest.middles, places, c=list(forest.colors), s=14, zorder=3)
    ax.set_yticks(places, list(forest.names), fontsize=7)
    ax.set_ylim(len(forest.names) - 0.4, -0.6)
    for place, sign, told in forest.beyond():
        _arrow(ax, place, sign, told, forest.colors[place])


def _arrow(ax: Axes, place: int, sign: int, told: str, color: str) -> None:
    """To the right outside, to the left inside: there the names are outside."""
    at, text = (1.005, f"\u25b6 {told}") if sign > 0 else (0.005, f"\u25c0 {told}")
    ax.text(
        at,
        place,
        text.rstrip(),
        fontsize=7,
        color=color,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        zorder=4,
        transform=ax.get_yaxis_transform(),
        va="center",
        ha="left",
    )


def _draw_spans(ax: Axes, kinds: Sequence[Spans]) -> None:
    for spans in kinds:
        _draw_stretches(ax, spans)
    for spans in kinds:  # Now it is known how long the axis is.
        if spans.written:
            _write_names(ax, spans)


def _draw_stretches(ax: Axes, spans: Spans) -> None:
    starts, at = np.asarray(spans.starts), np.asarray(spans.at, dtype=float)
    lengths = np.asarray(spans.ends) - starts
    # None have no length, so that the kind is in the legend all the same.
    ax.barh(at, lengths, _SPAN, starts, color=spans.color, label=spans.label)
    ax.set_yticks(range(len(spans.names)), list(spans.names))
    ax.set_ylim(len(spans.names) - 0.5, -0.5)


def _write_names(ax: Axes, spans: Spans) -> None:
    """Its label in each stretch that has room for it."""
    low, high = ax.get_xlim()
    room = _MOST_LETTERS * _inches(ax) / (high - low)
    color = "white" if _luminance(np.array(to_rgb(spans.color))) < _BRIGHT else BLACK
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": color, "fontsize": _WRITTEN}
    starts, ends = np.asarray(spans.starts), np.asarray(spans.ends)
    for place, start, end in zip(spans.at, starts, ends, strict=True):
        if room * (end - start) > len(spans.label):
            ax.text((start + end) / 2, place, spans.label, **look)


def _draw_line(ax: Axes, line: Line) -> None:
    x, y = np.asarray(line.x), np.asarray(line.y)
    if line.style == "points":
        ax.plot(x, y, ".", color=line.color, markersize=3, alpha=0.35)
    elif line.style in _MARKERS:
        marker, size = _MARKERS[line.style]
        ax.plot(
            x,
            y,
            line.marker or marker,
            color=line.color,
            label=line.label,
            markersize=size,
            markeredgecolor="white",
            markeredgewidth=0.4 if line.marker else None,  # of a shape that must be seen
            linestyle="none",
            zorder=3,
        )
    else:
        drawstyle = "steps-post" if line.style == "step" else "default"
        joined = line.style == "joined"
        ax.plot(
            x,
            y,
            color=line.color,
            label=line.label,
            linestyle=line.dash,
            linewidth=1.2,
            drawstyle=drawstyle,
            marker=line.marker or ("o" if joined else ""),
            markevery=None if joined else _NOW_AND_THEN,
            markersize=3.5,
        )
    if line.error is not None:
        ax.errorbar(x, y, line.error, fmt="none", ecolor=line.color, elinewidth=1, capsize=2)
