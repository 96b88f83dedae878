"""Charts for the page: plain data for plotly.js, which the page carries with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sojourn.figures.chart import Chart, Line

_DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
_SYMBOLS = {"mark": ("circle", 12), "star": ("star", 18)}


def render(chart: Chart) -> dict[str, Any]:
    """The chart as plotly's ``data`` and ``layout``."""
    count = len(chart.panels)
    rows, columns = (count, 1) if chart.stacked else (1, count)
    layout: dict[str, Any] = {
        "grid": {"rows": rows, "columns": columns, "pattern": "independent"},
        "template": "none",
        "height": 190 * count + 80 if chart.stacked else 420,
        "margin": {"t": 20, "r": 20, "l": 70, "b": 60},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "hovermode": "closest",
    }
    data = []
    for number, panel in enumerate(chart.panels, start=1):
        suffix = "" if number == 1 else str(number)
        layout[f"xaxis{suffix}"] = {"title": {"text": panel.x_label}, "gridcolor": "#ddd"}
        layout[f"yaxis{suffix}"] = {
            "title": {"text": panel.y_label},
            "gridcolor": "#ddd",
            "rangemode": "tozero" if panel.from_zero else "normal",
        }
        if chart.stacked and number < count:
            layout[f"xaxis{suffix}"] = {"matches": f"x{count}", "gridcolor": "#ddd"}
        data += [_trace(line, suffix, first=number == 1) for line in panel.lines]
    return {"data": data, "layout": layout}


def _trace(line: Line, suffix: str, *, first: bool) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "x": _plain(line.x),
        "y": _plain(line.y),
        "name": line.label,
        "legendgroup": line.label or line.color,
        "showlegend": first and bool(line.label),
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
    }
    if line.style == "points":
        return trace | {
            "mode": "markers",
            "marker": {"color": line.color, "size": 4, "opacity": 0.35},
            "hoverinfo": "x+y",
        }
    if line.style in _SYMBOLS:
        symbol, size = _SYMBOLS[line.style]
        return trace | {
            "mode": "markers",
            "marker": {"color": line.color, "size": size, "symbol": symbol},
        }
    shape = "hv" if line.style == "step" else "linear"
    style = {"color": line.color, "dash": _DASHES[line.dash], "width": 1.5, "shape": shape}
    return trace | {"mode": "lines", "line": style}


def _plain(values: Any) -> list[float | None]:
    """JSON has no NaN. Six digits are more than a screen shows."""
    numbers = np.asarray(values, dtype=float).tolist()
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in numbers]
