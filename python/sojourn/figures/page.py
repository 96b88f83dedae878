"""Charts for the page: plain data for plotly.js, which the page carries with it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
from numpy.typing import ArrayLike

from sojourn.figures import markup, page_forest, page_graph, page_heat, page_notes
from sojourn.figures.chart import MARKERS, Band, Boxes, Chart, Heat, Line, Panel, Spans
from sojourn.figures.plotly_types import Drawn, Part
from sojourn.json_types import Jsonable

_DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
#: So many panels stand beside each other.
_MOST_BESIDE = 3
#: Letters of a label that fit below an axis on a narrow screen, and beside one.
_ACROSS, _UP = 45, 30
_SYMBOLS = {
    "dots": ("circle", 6),
    "mark": ("circle", 12),
    "star": ("star", 18),
    "up": ("triangle-up", 12),
}
_SYMBOLS["down"] = ("triangle-down", 12)
#: What plotly calls the marks of lines.
_MARKERS = dict(
    zip(
        MARKERS,
        ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"),
        strict=True,
    )
)
#: Pixels to the inch.
_SCREEN = 96


def render(chart: Chart) -> Drawn:
    """The chart as plotly's ``data`` and ``layout``, its texts as they are: none is markup."""
    graph = chart.panels[0].graph
    shown = page_graph.render(graph) if graph else _panels(chart)
    return {"data": markup.escaped(shown["data"]), "layout": markup.escaped(shown["layout"])}


def _panels(chart: Chart) -> Drawn:
    titles: list[Jsonable] = []
    shapes: list[Jsonable] = []
    layout = _frame(chart, titles, shapes)
    data: list[Part] = []
    for number, panel in enumerate(chart.panels, start=1):
        suffix = "" if number == 1 else str(number)
        layout[f"xaxis{suffix}"] = _across(chart, panel, number)
        layout[f"yaxis{suffix}"] = _up(chart, panel, number)
        if title := ", ".join(filter(None, (panel.aside, panel.title))):
            titles.append(_title(title, suffix))
        titles += page_notes.texts(panel, suffix)
        shapes += page_notes.shapes(panel, suffix)
        if panel.heat:
            layout[page_heat.axis(panel.heat, suffix)] = _colors(chart, panel.heat, number)
        if panel.forest:
            layout |= page_forest.layout(panel.forest)
        data += _traces(panel, suffix)
    _name_once(data)
    return {"data": data, "layout": layout}


def _frame(chart: Chart, titles: Sequence[Jsonable], shapes: Sequence[Jsonable]) -> Part:
    """The layout without its axes; ``titles`` of panels and ``shapes`` in them are added to as
    these are drawn.
    """
    rows, columns, gap = _grid(chart)
    height = 440 if rows == 1 else (190 if chart.stacked else 330) * rows + 120
    return {
        "grid": {
            "rows": rows,
            "columns": columns,
            "pattern": "independent",
            "xgap": 0.18,
            "ygap": gap,
        },
        "height": _SCREEN * chart.height if chart.height else height,
        **({"width": _SCREEN * chart.width} if chart.width else {}),
        # The toolbar has the room above, the legend that below.
        "margin": {"t": 40, "r": 20, "l": 70, "b": 60},
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "title": {"text": chart.legend},
        },
        "hovermode": "closest",
        "boxmode": "group",
        "barmode": "overlay",
        "annotations": titles,
        "shapes": shapes,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


def _grid(chart: Chart) -> tuple[int, int, float]:
    """Rows and columns of panels, and the share of a row that is between it and the next."""
    count = len(chart.panels)
    if chart.columns:
        return count // chart.columns, chart.columns, 0.35
    alone = chart.stacked or any(panel.heat for panel in chart.panels)
    columns = 1 if alone else min(count, _MOST_BESIDE)
    return -(-count // columns), columns, 0.15 if chart.stacked else 0.35


def _across(chart: Chart, panel: Panel, number: int) -> Part:
    """A panel's horizontal axis."""
    if chart.stacked and number < len(chart.panels):
        axis: Part = {"matches": f"x{len(chart.panels)}"}
    else:
        axis = {"title": {"text": _broken(panel.x_label, _ACROSS)}, "automargin": True}
    if chart.shares() and number > 1:
        axis["matches"] = "x"
    if panel.log_x:
        axis["type"] = "log"
    if panel.ticks:
        at, names = zip(*panel.ticks, strict=True)
        axis |= {"tickvals": at, "ticktext": names}
    if panel.heat:
        axis["type"] = "category"
    return axis | (page_forest.across(panel.forest) if panel.forest else {})


def _up(chart: Chart, panel: Panel, number: int) -> Part:
    """A panel's vertical axis."""
    axis: Part = {
        # Beside the numbers or names, however long these are.
        "title": {"text": _broken(panel.y_label, _UP), "standoff": 8},
        "automargin": True,
        "rangemode": "tozero" if panel.from_zero else "normal",
    }
    if chart.shares() and number > 1:
        axis["matches"] = "y"
    if panel.log_y:
        axis["type"] = "log"
    if panel.levels:
        places = list(range(len(panel.levels)))
        axis |= {"tickvals": places, "ticktext": list(panel.levels)}
        axis |= {"range": [-0.6, len(places) - 0.4], "zeroline": False}
    if panel.heat:
        axis["type"] = "category"
    if panel.spans:
        axis |= _upright(panel.spans[0].names)
    return axis | (page_forest.up(panel.forest) if panel.forest else {})


def _colors(chart: Chart, heat: Heat, number: int) -> Part:
    """The colours of the map in row ``number`` of the grid."""
    rows, _, gap = _grid(chart)
    step = 1 / (rows - gap)
    length = step * (1 - gap)
    return page_heat.colors(heat, 1 - (number - 1) * step - length / 2, length)


def _broken(text: str, most: int) -> str:
    """A label in lines of so many letters."""
    return "\n".join(wrap(text, most))


def _name_once(data: Sequence[Part]) -> None:
    """Leaves each name in the legend where it first has points."""
    named = set()
    for trace in data:
        if "legendgroup" in trace:
            name = trace["name"]
            trace["showlegend"] = bool(name) and bool(trace["x"]) and name not in named
            named |= {name} if trace["showlegend"] else set()


def _traces(panel: Panel, suffix: str) -> list[Part]:
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces = [_band(band) | axes for band in panel.bands]
    traces += [_trace(line) | axes for line in panel.lines]
    for boxes in panel.boxes:
        traces.append(_boxes(boxes) | axes)
    if panel.heat:
        traces.append(page_heat.trace(panel.heat, suffix) | axes)
    if panel.forest:
        traces.append(page_forest.trace(panel.forest) | axes)
    for spans in panel.spans:
        traces.append(_spans(spans) | axes)
    return traces


def _band(band: Band) -> Part:
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


def _title(text: str, suffix: str) -> Part:
    """A panel's title, above its axes."""
    place: Part = {"xref": f"x{suffix} domain", "yref": f"y{suffix} domain", "x": 0.5, "y": 1.0}
    return {"text": text, "showarrow": False, "yanchor": "bottom", **place}


def _boxes(boxes: Boxes) -> Part:
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


def _upright(names: Sequence[str]) -> Part:
    """A vertical axis of names from the top, also of those at which nothing is."""
    order = {"categoryorder": "array", "categoryarray": list(reversed(names))}
    return {"type": "category", "range": [-0.5, len(names) - 0.5], **order}


def _spans(spans: Spans) -> Part:
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


def _trace(line: Line) -> Part:
    trace: Part = {
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
        symbol = _MARKERS.get(line.marker, symbol)
        return trace | {
            "mode": "markers",
            "marker": {"color": line.color, "size": size, "symbol": symbol},
        }
    shape = "hv" if line.style == "step" else "linear"
    style: Part = {"color": line.color, "dash": _DASHES[line.dash], "width": 1.5, "shape": shape}
    if line.style == "joined":
        trace["marker"] = {"symbol": _MARKERS.get(line.marker, "circle")}
    return trace | {"mode": "lines+markers" if line.style == "joined" else "lines", "line": style}


def _plain(values: ArrayLike) -> list[float | None]:
    """JSON has no NaN. Six digits are more than a screen shows."""
    numbers = np.asarray(values, dtype=float).tolist()
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in numbers]
