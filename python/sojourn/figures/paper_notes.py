"""Annotations on paper, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from sojourn.figures.chart import NOTED, Note

_SIZE = 7
#: Points between a text and the line or the end of the span that it is of.
_GAP = 2


def draw(ax: Axes, notes: Sequence[Note]) -> None:
    """Lines and spans go below what the panel shows; texts above it."""
    for note in notes:
        if not note.y:
            (ax.axvspan if note.x[1:] else ax.axvline)(*note.x, **_look(note))
            _write(ax, note.text, (note.x[0], 0.98), ax.get_xaxis_transform(), "left", "top")
        elif not note.x:
            (ax.axhspan if note.y[1:] else ax.axhline)(*note.y, **_look(note))
            _write(ax, note.text, (0.98, note.y[0]), ax.get_yaxis_transform(), "right", "bottom")
        else:
            _write(ax, note.text, (note.x[0], note.y[0]), ax.transData, "center", "center")


def _look(note: Note) -> dict[str, Any]:
    if note.x[1:] or note.y[1:]:
        return {"color": NOTED, "alpha": 0.15, "linewidth": 0, "zorder": 0}
    return {"color": NOTED, "linewidth": 0.9, "linestyle": "dashed", "zorder": 1}


def _write(ax: Axes, text: str, at: tuple[float, float], where: Any, across: str, up: str) -> None:
    gap = (_GAP if across == "left" else 0, _GAP if up == "bottom" else 0)
    offset: dict[str, Any] = {"xytext": gap, "textcoords": "offset points"}
    ax.annotate(text, at, xycoords=where, ha=across, va=up, fontsize=_SIZE, zorder=4, **offset)
