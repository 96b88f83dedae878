"""Charts for the page: plain data for plotly.js, which the page carries with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.figures import page_graph
from sojourn.figures.chart import BLACK, Band, Boxes, Chart, Forest, Heat, Line, Panel, Spans

_DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
#: So many panels stand beside each other.
_MOST_BESIDE = 3
_SYMBOLS = {
    "dots": ("circle", 6),
    "mark": ("circle", 12),
    "star": ("star", 18),
    "up": ("triangle-up", 12),
}
_SYMBOLS["down"] = ("triangle-down", 12)


def render(chart: Chart) -> dict[str, Any]:
    """The chart as plotly's ``data`` and ``layout``."""
    if graph := chart.panels[0].graph:
        return page_graph.render(graph)
    count = len(chart.panels)
    heat = any(panel.heat for panel in chart.panels)
    stacked = chart.stacked or heat
    columns = 1 if stacked else min(count, _MOST_BESIDE)
    rows = -(-count // columns)
    layout: dict[str, Any] = {
        "grid": {
            "rows": rows,
            "columns": columns,
            "pattern": "independent",
            "xgap": 0.18,
            "ygap": 0.15 if chart.stacked else 0.35,
        },
        "height": 440 if rows == 1 else (190 if chart.stacked else 330) * rows + 120,
        # The toolbar has the room above, the legend that below.
        "margin": {"t": 40, "r": 20, "l": 70, "b": 60},
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
        "hovermode": "closest",
        "boxmode": "group",
        "annotations": [],
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }
    data: list[dict[str, Any]] = []
    for number, panel in enumerate(chart.panels, start=1):
        suffix = "" if number == 1 else str(number)
        layout[f"xaxis{suffix}"] = {"title": {"text": panel.x_label}, "automargin": True}
        layout[f"yaxis{suffix}"] = {
            "title": {"text": panel.y_label},
            "automargin": True,
            "rangemode": "tozero" if panel.from_zero else "normal",
        }
        if chart.fitted and not heat and number > 1:
            layout[f"yaxis{suffix}"]["matches"] = "y"
        if chart.stacked and number < count:
            layout[f"xaxis{suffix}"] = {"matches": f"x{count}"}
        if panel.log_x:
            layout[f"xaxis{suffix}"]["type"] = "log"
        if panel.ticks:
            at, names = zip(*panel.ticks, strict=True)
            layout[f"xaxis{suffix}"] |= {"tickvals": at, "ticktext": names}
        if panel.title:
            layout["annotations"].append(_title(panel.title, suffix))
        if panel.heat:
            layout[f"xaxis{suffix}"]["type"] = layout[f"yaxis{suffix}"]["type"] = "category"
            layout[_coloraxis(panel.heat, suffix)] = _colors(panel.heat, number, rows)
        if panel.forest:
            layout |= {"height": 140 + 20 * len(panel.forest.names)}
            layout[f"yaxis{suffix}"] |= {"type": "category", "autorange": "reversed"}
        if panel.spans:
            layout[f"yaxis{suffix}"] |= _upright(panel.spans[0].names)
            layout["barmode"] = "overlay"
        data += _traces(panel, suffix)
    _name_once(data)
    return {"data": data, "layout": layout}


def _name_once(data: Sequence[dict[str, Any]]) -> None:
    """Leaves each name in the legend where it first has points."""
    named = set()
    for trace in data:
        if "legendgroup" in trace:
            name = trace["name"]
            trace["showlegend"] = bool(name) and bool(trace["x"]) and name not in named
            named |= {name} if trace["showlegend"] else set()


def _traces(panel: Panel, suffix: str) -> list[dict[str, Any]]:
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces = [_band(band) | axes for band in panel.bands]
    traces += [_trace(line) | axes for line in panel.lines]
    for boxes in panel.boxes:
        traces.append(_boxes(boxes) | axes)
    if panel.heat:
        traces.append(_heat(panel.heat, suffix) | axes)
    if panel.forest:
        traces.append(_forest(panel.forest) | axes)
    for spans in panel.spans:
        traces.append(_spans(spans) | axes)
    return traces


def _band(band: Band) -> dict[str, Any]:
    x, low, high = _plain(band.x), _plain(band.low), _plain(band.high)
    return {
        "x": x + x[::-1],
        "y": high + low[::-1],
        "fill": "toself",
        "fillcolor": band.color,
        "opacity": 0.2,
        "mode": "none",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _title(text: str, suffix: str) -> dict[str, Any]:
    """A panel's title, above its axes."""
    place = {"xref": f"x{suffix} domain", "yref": f"y{suffix} domain", "x": 0.5, "y": 1.0}
    return {"text": text, "showarrow": False, "yanchor": "bottom", **place}


def _boxes(boxes: Boxes) -> dict[str, Any]:
    at = [
        name
        for name, values in zip(boxes.names, boxes.values, strict=True)
        for _ in np.asarray(values)
    ]
    return {
        "type": "box",
        "name": boxes.label,
        "legendgroup": boxes.label,
        "x": at,
        "y": [value for values in boxes.values for value in _plain(values)],
        "marker": {"color": boxes.color},
    }


def _forest(forest: Forest) -> dict[str, Any]:
    up = [high - middle for high, middle in zip(forest.highs, forest.middles, strict=True)]
    down = [middle - low for low, middle in zip(forest.lows, forest.middles, strict=True)]
    error = {"symmetric": False, "array": _plain(up), "arrayminus": _plain(down), "color": BLACK}
    return {
        "x": _plain(forest.middles),
        "y": list(forest.names),
        "error_x": error | {"thickness": 1.2},
        "mode": "markers",
        "marker": {"color": list(forest.colors), "size": 8},
        "showlegend": False,
    }


def _upright(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis of names from the top, also of those at which nothing is."""
    order = {"categoryorder": "array", "categoryarray": list(reversed(names))}
    return {"type": "category", "range": [-0.5, len(names) - 0.5], **order}


def _spans(spans: Spans) -> dict[str, Any]:
    starts = np.asarray(spans.starts, dtype=float)
    return {
        "type": "bar",
        "orientation": "h",
        "name": spans.label,
        "y": [spans.names[place] for place in spans.at],
        "base": _plain(starts),
        "x": _plain(np.asarray(spans.ends) - starts),
        "marker": {"color": spans.color},
    }


def _coloraxis(heat: Heat, suffix: str) -> str:
    """Its scale of colours, which maps with the same limits share."""
    return "coloraxis" if heat.limits else f"coloraxis{suffix}"


def _colors(heat: Heat, number: int, rows: int) -> dict[str, Any]:
    """The scale of colours of the map in row ``number``, beside which its bar stands."""
    bar: dict[str, Any] = {"title": {"text": heat.label, "side": "right"}}
    if heat.limits:
        low, high = heat.limits
        return {"colorscale": "Cividis", "colorbar": bar, "cmin": low, "cmax": high}
    bar |= {"len": 1 / rows, "y": 1 - (number - 0.5) / rows}
    return {"colorscale": "Cividis", "colorbar": bar}


def _heat(heat: Heat, suffix: str) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "x": list(heat.columns),
        "y": list(heat.rows),
        "z": [_plain(row) for row in np.asarray(heat.values, dtype=float)],
        "coloraxis": _coloraxis(heat, suffix),
    }


def _trace(line: Line) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "x": _plain(line.x),
        "y": _plain(line.y),
        "name": line.label,
        "legendgroup": line.label or line.color,
    }
    if line.error is not None:
        trace["error_y"] = {"array": _plain(line.error), "color": line.color, "thickness": 1}
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
    return trace | {"mode": "lines+markers" if line.style == "joined" else "lines", "line": style}


def _plain(values: Any) -> list[float | None]:
    """JSON has no NaN. Six digits are more than a screen shows."""
    numbers = np.asarray(values, dtype=float).tolist()
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in numbers]
