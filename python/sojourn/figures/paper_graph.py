"""Networks on paper, by matplotlib: what was typical."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from sojourn.figures.chart import BLACK, Graph
from sojourn.figures.places import right
from sojourn.metrics.columns import Values, mean

#: How far an arc is beside the line between its nodes, as a share of the length of links, and
#: which share of that line it leaves to the nodes.
_ASIDE, _SHORT = 0.04, 0.1
#: With more arcs, loads are not written beside them, and arcs are thinner.
_MOST_LABELS = 60
#: Area of a node where nothing waits, and what is added where the most does (points^2).
_NODE, _LARGEST = 180.0, 600.0
#: Of an arc without a rate.
_NO_RATE = "#bbbbbb"


def draw(figure: Figure, ax: Axes, graph: Graph) -> None:
    """Arcs coloured by mean load, nodes as large as their mean queue."""
    places = np.asarray(graph.places, dtype=float)
    loads = mean(np.asarray(graph.loads, dtype=float))
    waiting = mean(np.asarray(graph.waiting, dtype=float))
    ax.set_axis_off()
    ax.set_aspect("equal")
    ways = [_way(places[a], places[b]) for a, b in graph.arcs]
    width = 2.0 if len(graph.arcs) <= _MOST_LABELS else 0.8
    colors = ScalarMappable(Normalize(0, 1), "viridis_r")
    for (tail, head), load in zip(ways, loads, strict=True):
        color = _NO_RATE if np.isnan(load) else colors.to_rgba(load)
        arrow = {"arrowstyle": "-|>", "color": color, "linewidth": width}
        ax.annotate("", head, tail, arrowprops=arrow | {"mutation_scale": 9}, zorder=1)
    figure.colorbar(colors, ax=ax, label="Share used", shrink=0.7)
    if len(graph.arcs) <= _MOST_LABELS:
        for (tail, head), load in zip(ways, loads, strict=True):
            if load >= 0.005:
                place = tail + 0.6 * (head - tail) + right(tail, head) * 0.06
                ax.text(
                    place[0], place[1], f"{100 * load:.0f} %", fontsize=6, ha="center", va="center"
                )
    sizes = _NODE + _LARGEST * waiting / max(waiting.max(initial=0.0), 1.0)
    x, y = places.T
    ax.scatter(x, y, sizes, facecolor="white", edgecolor=BLACK, linewidth=0.8, zorder=2)
    for name, place, packets in zip(graph.names, places, waiting, strict=True):
        told = f"{name}\n{packets:.0f}" if packets >= 0.5 else name
        ax.text(place[0], place[1], told, fontsize=6, ha="center", va="center", zorder=3)
    ax.margins(0.12)


def _way(tail: Values, head: Values) -> Values:
    """An arc's ends, right of the line as one travels."""
    along, aside = head - tail, right(tail, head) * _ASIDE
    return np.array([tail + _SHORT * along + aside, head - _SHORT * along + aside])
