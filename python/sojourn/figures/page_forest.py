"""Forest plots on the page, by plotly.js: names above their intervals, so that a narrow screen has
room for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from sojourn.figures.chart import BLACK, Forest
from sojourn.figures.plotly_types import Part

#: Letters of a name that fit a narrow screen; heights of its lines and of an interval (pixels).
_LETTERS, _LINE, _ROW = 58, 15, 24
#: Room for numbers beside the axis, and where there are none (pixels).
_ASIDE, _EDGE = 62, 14
_ZERO: Part = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1}


def trace(forest: Forest) -> Part:
    """Intervals."""
    up = [high - middle for high, middle in zip(forest.highs, forest.middles, strict=True)]
    down = [middle - low for low, middle in zip(forest.lows, forest.middles, strict=True)]
    error: Part = {
        "symmetric": False,
        "array": _plain(up),
        "arrayminus": _plain(down),
        "color": BLACK,
    }
    return {
        "x": _plain(forest.middles),
        "y": list(range(len(forest.names))),
        "text": list(forest.names),
        "hovertemplate": "%{text}: %{x}<extra></extra>",
        "error_x": error | {"thickness": 1.2},
        "mode": "markers",
        "marker": {"color": list(forest.colors), "size": 8},
        "showlegend": False,
    }


def layout(forest: Forest) -> Part:
    """What the figure's layout is for one: its size and what is written in it."""
    names = [wrap(name, _LETTERS) for name in forest.names]
    row = _ROW + _LINE * max(map(len, names))
    left, right = (
        _ASIDE if any(told for _, sign, told in forest.beyond() if sign == side) else _EDGE
        for side in (-1, 1)
    )
    return {
        "height": 130 + row * len(names),
        "margin": {"t": 40, "b": 60, "l": left, "r": right},
        "annotations": [*_names(names, _EDGE - left), *_arrows(forest)],
        "shapes": [_ZERO | {"line": {"color": BLACK, "width": 1}}],
    }


def across(forest: Forest) -> Part:
    """What its horizontal axis is."""
    return {"range": list(forest.span())}


def up(forest: Forest) -> Part:
    """What its vertical axis is: places, whose names are written in the figure."""
    room = [len(forest.names) - 0.5, -1.0]
    return {"range": room, "showticklabels": False, "showgrid": False, "zeroline": False}


def _names(names: list[list[str]], shift: int) -> Iterator[Part]:
    for place, lines in enumerate(names):
        text: Part = {"text": "\n".join(lines), "align": "left", "font": {"size": 12}}
        where: Part = {"xref": "paper", "x": 0, "xanchor": "left", "xshift": shift}
        yield {**text, **where, "y": place, "yanchor": "bottom", "yshift": 5, "showarrow": False}


def _arrows(forest: Forest) -> Iterator[Part]:
    """At the ends of the axis, also when it is moved."""
    for place, sign, told in forest.beyond():
        text = f"\u25b6 {told}" if sign > 0 else f"{told} \u25c0"
        where: Part = {"x": 1, "xanchor": "left"} if sign > 0 else {"x": 0, "xanchor": "right"}
        look: Part = {"font": {"size": 11, "color": forest.colors[place]}, "showarrow": False}
        at: Part = {"text": text.strip(), "xref": "paper", "y": place, "yanchor": "middle"}
        yield at | where | look


def _plain(values: Sequence[float]) -> list[float]:
    """Six digits are more than a screen shows."""
    return [float(f"{value:.6g}") for value in values]
