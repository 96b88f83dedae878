"""Heat maps on the page, by plotly.js, which has no logarithmic colours: it gets logarithms."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, log10
from textwrap import wrap

import numpy as np

from sojourn.figures.chart import DIVERGING, Heat
from sojourn.figures.plotly_types import Part
from sojourn.metrics.columns import Values

#: Letters of a label that fit beside the lowest bar of colours.
_LETTERS = 26
_SCALES = {True: [[place / 2, color] for place, color in enumerate(DIVERGING)], False: "Cividis"}


def trace(heat: Heat, suffix: str) -> Part:
    """The map itself."""
    values = np.asarray(heat.values, dtype=float)
    shown = {"customdata": _plain(values), "hovertemplate": "%{y}, %{x}: %{customdata}"}
    return {
        "type": "heatmap",
        "x": list(heat.columns),
        "y": list(heat.rows),
        "z": _plain(_scaled(heat, values)),
        "coloraxis": axis(heat, suffix),
        **shown,
    }


def axis(heat: Heat, suffix: str) -> str:
    """Its scale of colours, which maps with the same limits share."""
    return "coloraxis" if heat.limits else f"coloraxis{suffix}"


def colors(heat: Heat, middle: float, length: float) -> Part:
    """The scale of colours, with its bar beside the map: where that is, and how long, as shares
    of the figure's height. One that several maps share is beside all of them.
    """
    # An empty line keeps the label off the bar's numbers.
    label = "\n".join(["", *wrap(heat.label, _LETTERS)])
    bar: Part = {"title": {"text": label, "side": "right"}}
    if not heat.limits:
        bar |= {"y": middle, "len": length, "lenmode": "fraction"}
    low, high = _scaled(heat, np.array(heat.ends())).tolist()
    if heat.log:
        at = list(_round(low, high))
        bar |= {"tickvals": [log10(value) for value in at], "ticktext": [f"{v:g}" for v in at]}
    scale = _SCALES[heat.middle is not None]
    return {"colorscale": scale, "colorbar": bar, "cmin": low, "cmax": high}


def _scaled(heat: Heat, values: Values) -> Values:
    """What colours follow."""
    if not heat.log:
        return values
    known = np.where(values > 0, values, np.nan)
    return np.asarray(np.log10(known))


def _round(low: float, high: float) -> Iterator[float]:
    """The numbers 1, 2 and 5 of each decade between two logarithms."""
    for decade in range(floor(low), ceil(high) + 1):
        for digit in (1, 2, 5):
            if low <= log10(digit * 10.0**decade) <= high:
                yield digit * 10.0**decade


def _plain(values: Values) -> list[list[float | None]]:
    """JSON has no NaN. Six digits are more than a screen shows."""
    return [
        [float(f"{value:.6g}") if np.isfinite(value) else None for value in row]
        for row in values.tolist()
    ]
