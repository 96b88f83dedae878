"""Networks on the page, by plotly.js: a slider moves through time, from the busiest stretch."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import BLACK, Graph
from sojourn.figures.places import right
from sojourn.figures.plotly_types import Drawn, Part
from sojourn.metrics.columns import Values

#: Where along an arc its arrow is, and how far beside it.
_ALONG, _ASIDE = 0.6, 0.06
#: Sizes of arrows, of a node where nothing waits, and what is added where the most does (pixels).
_ARROW, _NODE, _LARGEST = 18, 22, 40
_GREY, _GLASS = "#999999", "rgba(127,127,127,0.35)"
_NO_AXIS: Part = {"visible": False}
_LAYOUT: Part = {
    "height": 620,
    "margin": {"t": 20, "r": 20, "l": 20, "b": 20},
    "showlegend": False,
    "hovermode": "closest",
    "xaxis": _NO_AXIS,
    "yaxis": _NO_AXIS | {"scaleanchor": "x"},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
}


def render(graph: Graph) -> Drawn:
    """Links in grey, an arrow a direction coloured by load, nodes as large as their queues."""
    places = np.asarray(graph.places, dtype=float)
    loads, waiting = (np.asarray(part, dtype=float) for part in (graph.loads, graph.waiting))
    sizes = _NODE + _LARGEST * np.sqrt(waiting / max(waiting.max(initial=0.0), 1.0))
    busiest = int(np.nan_to_num(loads).sum(axis=1).argmax())
    data = [
        _lines(graph, places),
        _arrows(graph, places, loads[busiest]),
        _nodes(graph, places, waiting[busiest], sizes[busiest]),
    ]
    stretches = zip(np.asarray(graph.times), loads, waiting, sizes, strict=True)
    slider: Part = {
        "steps": [_step(*stretch) for stretch in stretches],
        "active": busiest,
        "currentvalue": {"prefix": "Until (s): "},
    }
    return {"data": data, "layout": _LAYOUT | {"sliders": [slider]}}


def _lines(graph: Graph, places: Values) -> Part:
    lines = [axis for pair in graph.arcs for axis in [*places[list(pair)], [np.nan, np.nan]]]
    return {
        **_points(np.array(lines)),
        "mode": "lines",
        "line": {"color": _GREY, "width": 1},
        "hoverinfo": "skip",
    }


def _arrows(graph: Graph, places: Values, load: Values) -> Part:
    tails, heads = (places[[pair[end] for pair in graph.arcs]] for end in (0, 1))
    asides = [right(tail, head) for tail, head in zip(tails, heads, strict=True)]
    at = tails + _ALONG * (heads - tails) + _ASIDE * np.array(asides)
    return {
        **_points(at),
        "mode": "markers",
        "text": list(graph.arc_names),
        "customdata": _plain(load),
        "hovertemplate": "%{text}: %{customdata:.1%}<extra></extra>",
        "marker": {
            "symbol": "arrow",
            "angle": _plain(np.degrees(np.arctan2(*(heads - tails).T))),
            "size": [_ARROW] * len(at),
            "color": _plain(load),
            "cmin": 0,
            "cmax": 1,
            "colorscale": "Viridis",
            "reversescale": True,
            "colorbar": {"title": {"text": "Share used", "side": "right"}},
        },
    }


def _nodes(graph: Graph, places: Values, packets: Values, size: Values) -> Part:
    return {
        **_points(places),
        "mode": "markers+text",
        "text": list(graph.names),
        "customdata": _plain(packets),
        "hovertemplate": "%{text}: %{customdata:.0f} packets<extra></extra>",
        "marker": {"size": _plain(size), "color": _GLASS, "line": {"color": BLACK, "width": 1}},
    }


def _step(time: float, load: Values, packets: Values, size: Values) -> Part:
    """What the slider changes of arrows and nodes."""
    changes: Part = {
        "marker.color": [_plain(load), _GLASS],
        "marker.size": [[_ARROW] * len(load), _plain(size)],
        "customdata": [_plain(load), _plain(packets)],
    }
    return {"label": f"{time:g}", "method": "restyle", "args": [changes, [1, 2]]}


def _points(places: Values) -> dict[str, list[float | None]]:
    return {"x": _plain(places[:, 0]), "y": _plain(places[:, 1])}


def _plain(values: Values) -> list[float | None]:
    """JSON has no NaN. Four digits are more than a colour shows."""
    return [float(f"{v:.4g}") if np.isfinite(v) else None for v in values.tolist()]
