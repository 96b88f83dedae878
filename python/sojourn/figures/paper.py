"""Charts for papers, by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from sojourn.figures.chart import BLACK, Boxes, Chart, Heat, Line, Panel
from sojourn.numbers import number

_STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "sojourn",
    "svg.fonttype": "none",
}
_WIDTH = 7.0
_DPI = 160
_MARKERS = {"mark": ("o", 8.0), "star": ("*", 14.0), "up": ("^", 8.0), "down": ("v", 8.0)}
#: More flows than this make a legend longer than the figure.
_LONGEST_LEGEND = 16
#: About as many letters of a legend fit an inch.
_LEGEND_LETTERS = 14
#: Names along an axis that are longer than this altogether stand upright.
_MOST_LETTERS = 70
#: Upright names are this large together (points), but none below the least and above the largest.
_UPRIGHT_SIZE, _LEAST_SIZE, _LARGEST_SIZE = 160, 5, 9
#: Larger heat maps carry no numbers.
_MOST_NUMBERS = 100


def render(chart: Chart) -> Figure:
    """The chart as a matplotlib figure."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=_size(chart), layout="constrained")
        grid = (len(chart.panels), 1) if chart.stacked else (1, len(chart.panels))
        axes = figure.subplots(*grid, squeeze=False, sharex=chart.stacked).ravel()
        for ax, panel in zip(axes, chart.panels, strict=True):
            _draw(figure, ax, panel)
        if chart.stacked:
            for ax in axes[:-1]:
                ax.set_xlabel("")
        _legend(figure, axes)
        return figure


def images(chart: Chart) -> dict[str, bytes]:
    """The chart as files of kind ``png`` and ``svg``; the same chart gives the same bytes."""
    return encoded(render(chart))


def encoded(figure: Figure) -> dict[str, bytes]:
    """A figure as files of kind ``png`` and ``svg``."""
    written = {}
    with mpl.rc_context(_STYLE):
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = BytesIO()
            figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
            written[kind] = buffer.getvalue()
            # Where everything goes is known now, and costs as much to find out as to draw.
            figure.set_layout_engine("none")
    return written


def save(chart: Chart, directory: Path, name: str) -> None:
    """Writes ``name.png`` and ``name.svg``."""
    write(images(chart), directory, name)


def write(contents: Mapping[str, bytes], directory: Path, name: str) -> None:
    """Writes ``name`` in each kind."""
    directory.mkdir(parents=True, exist_ok=True)
    for kind, content in contents.items():
        (directory / f"{name}.{kind}").write_bytes(content)


def _size(chart: Chart) -> tuple[float, float]:
    if chart.stacked:
        return _WIDTH, 0.7 + 1.5 * len(chart.panels)
    return (_WIDTH if len(chart.panels) > 1 else 5.0), 3.4


def _draw(figure: Figure, ax: Axes, panel: Panel) -> None:
    for band in panel.bands:
        ax.fill_between(band.x, band.low, band.high, color=band.color, alpha=0.2, linewidth=0)
    for line in panel.lines:
        _draw_line(ax, line)
    if panel.boxes:
        _draw_boxes(ax, panel.boxes)
    if panel.heat:
        _draw_heat(figure, ax, panel.heat)
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.from_zero and not panel.heat:
        low, high = ax.get_ylim()
        ax.set_ylim(min(0, low), high + 0.05 * (high - min(0, low)))


def _draw_boxes(ax: Axes, boxes: Boxes) -> None:
    ax.boxplot(
        [np.asarray(values) for values in boxes.values],
        tick_labels=list(boxes.names),
        patch_artist=True,
        boxprops={"facecolor": boxes.color, "alpha": 0.4},
        medianprops={"color": BLACK},
        flierprops={"markersize": 3},
    )
    _fit_names(ax, boxes.names)


def _fit_names(ax: Axes, names: Sequence[str]) -> None:
    """Turns names along the horizontal axis upright, and makes them small, where they are many."""
    if max(map(len, names)) * len(names) > _MOST_LETTERS:
        size = min(_LARGEST_SIZE, max(_LEAST_SIZE, _UPRIGHT_SIZE / len(names)))
        ax.tick_params(axis="x", rotation=90, labelsize=size)


def _draw_heat(figure: Figure, ax: Axes, heat: Heat) -> None:
    values = np.asarray(heat.values, dtype=float)
    norm = LogNorm() if heat.log else Normalize()
    image = ax.imshow(values, origin="lower", aspect="auto", cmap="cividis", norm=norm)
    ax.set_xticks(range(len(heat.columns)), heat.columns)
    _fit_names(ax, heat.columns)
    ax.set_yticks(range(len(heat.rows)), heat.rows)
    ax.grid(visible=False)
    ticks: Any = {"ticks": LogLocator(subs=(1, 2, 5)), "format": "%g"} if heat.log else {}
    figure.colorbar(image, ax=ax, label=heat.label, **ticks).ax.minorticks_off()
    if values.size > _MOST_NUMBERS:
        return
    for (row, column), value in np.ndenumerate(values):
        color = "white" if norm(value) < 0.5 else BLACK
        ax.text(column, row, number(float(value)), ha="center", va="center", color=color)


def _draw_line(ax: Axes, line: Line) -> None:
    x, y = np.asarray(line.x), np.asarray(line.y)
    if line.style == "points":
        ax.plot(x, y, ".", color=line.color, markersize=3, alpha=0.35)
    elif line.style in _MARKERS:
        marker, size = _MARKERS[line.style]
        ax.plot(
            x,
            y,
            marker,
            color=line.color,
            label=line.label,
            markersize=size,
            markeredgecolor="white",
            linestyle="none",
            zorder=3,
        )
    else:
        drawstyle = "steps-post" if line.style == "step" else "default"
        ax.plot(
            x,
            y,
            color=line.color,
            label=line.label,
            linestyle=line.dash,
            linewidth=1.2,
            drawstyle=drawstyle,
        )


def _legend(figure: Figure, axes: Iterable[Axes]) -> None:
    entries = {
        name: handle
        for ax in axes
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if entries and len(entries) <= _LONGEST_LEGEND:
        longest = max(map(len, entries))
        most = max(1, int(_LEGEND_LETTERS * figure.get_figwidth()) // (longest + 8))
        columns = ceil(len(entries) / ceil(len(entries) / most))
        # matplotlib fills columns; one reads rows.
        names = [name for first in range(columns) for name in list(entries)[first::columns]]
        handles = [entries[name] for name in names]
        figure.legend(handles, names, loc="outside upper center", ncols=columns)
