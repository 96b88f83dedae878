"""Names along the horizontal axes of charts for papers: none meets the next."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.figures.chart import Panel

#: About as many letters fit an inch.
LETTERS = 13
#: Names are broken into so many rows at most.
_MOST_ROWS = 3
#: Upright names are this large together (points), but none below the least and above the largest.
_UPRIGHT_SIZE, _LEAST_SIZE, _LARGEST_SIZE = 160, 5, 9


def fit_all(figure: Figure, axes: Sequence[Axes], panels: Sequence[Panel]) -> None:
    """Does so in all panels, when everything else is in its place."""
    named = list(zip(axes, map(_names, panels), strict=True))
    crowded = [(ax, names) for ax, names in named if not _apart(names, _gaps(ax))]
    if crowded:
        figure.draw_without_rendering()  # Now it is known what room there is, which may suffice.
    for ax, names in crowded:
        fit(ax, names)


def fit(ax: Axes, names: Sequence[str]) -> None:
    """Breaks the names at an axis where they would meet, or, where their words are too long for
    that, turns them upright, small, and breaks those that would take half of the axes' height.
    """
    gaps = _gaps(ax)
    if _apart(names, gaps):
        return
    broken = [fill(name, max(1, int(min(gaps)) - 1), break_long_words=False) for name in names]
    if _apart(broken, gaps) and max(name.count("\n") for name in broken) < _MOST_ROWS:
        ax.set_xticks(ax.get_xticks(), broken)
        return
    half = max(1, int(LETTERS * ax.get_window_extent().height / ax.figure.dpi / 2))
    word = max((len(word) for name in names for word in name.split()), default=0)
    room = max(half, min(word, 2 * half))  # rather than within a word
    ax.set_xticks(ax.get_xticks(), [fill(name, room) for name in names])
    size = min(_LARGEST_SIZE, max(_LEAST_SIZE, _UPRIGHT_SIZE / len(names)))
    ax.tick_params(axis="x", rotation=90, labelsize=size)


def inches(ax: Axes) -> float:
    """The width of an axis."""
    return float(ax.get_window_extent().width) / ax.figure.dpi


def _names(panel: Panel) -> list[str]:
    return list(panel.boxes[0].names) if panel.boxes else [name for _, name in panel.ticks]


def _gaps(ax: Axes) -> list[float]:
    """From each tick of the horizontal axis to the next, in letters; of a single one the axis."""
    ax.get_xlim()  # which sees to it that the axis is as long as what it shows
    ticks = [(at, 0.0) for at in ax.get_xticks()]
    lengths = np.diff(ax.get_xaxis_transform().transform(ticks)[:, 0]) / ax.figure.dpi
    return [float(LETTERS * length) for length in lengths] or [LETTERS * inches(ax)]


def _apart(names: Sequence[str], gaps: Sequence[float]) -> bool:
    """Whether there is room for a letter between each of the names and the next."""
    widths = [max(map(len, name.split("\n"))) for name in names]
    nexts = zip(widths, widths[1:] or widths, gaps, strict=False)
    return all((one + other) / 2 + 1 <= gap for one, other, gap in nexts)
