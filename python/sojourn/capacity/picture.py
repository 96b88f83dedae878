"""The network with what each link carries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn.capacity.network import told
from sojourn.capacity.solve import NOTHING, Solution
from sojourn.figures.chart import BLACK, color_of
from sojourn.figures.paper import encoded, write
from sojourn.figures.places import Point, placed, right
from sojourn.literal import drawn

_GREY = "#bbbbbb"
#: Width of the largest flow (points), and how far apart flows on a link are drawn, as a share of
#: the length of links.
_WIDEST, _APART = 4.0, 0.08
#: With more directions of links, loads are not written beside them.
_MOST_LABELS = 250


def save(solution: Solution, directory: Path) -> None:
    """Writes the picture as PNG and SVG."""
    write(encoded(draw(solution)), directory, "network")


def draw(solution: Solution) -> Figure:
    """Links in grey, over them what goes to each destination, and load/capacity."""
    places = placed(tuple((arc.tail, arc.head) for arc in solution.problem.network.arcs))
    size = min(12.0, 3.0 + 0.6 * len(places) ** 0.5 * 1.4)
    figure = Figure(figsize=(size, size), layout="constrained")
    ax = figure.subplots()
    ax.set_axis_off()
    ax.set_aspect("equal")
    _draw_links(ax, solution, places)
    _draw_flows(ax, solution, places)
    _draw_nodes(ax, solution, places)
    figure.suptitle(drawn(_title(solution)), fontsize=10)
    return figure


def _title(solution: Solution) -> str:
    units = solution.problem.units
    within = "without a deadline"
    if solution.deadline is not None:
        within = f"within {told(float(solution.deadline), units.time)}"
    kind = "routing alone" if solution.routing else "network coding"
    return f"{solution.problem.name}: {told(solution.rate, units.rate)} {within}, {kind}"


def _draw_links(ax: Axes, solution: Solution, places: Mapping[int, Point]) -> None:
    for arc in solution.problem.network.arcs:
        ends = zip(places[arc.tail], places[arc.head], strict=True)
        ax.plot(*ends, color=_GREY, linewidth=0.8, zorder=1)


def _draw_flows(ax: Axes, solution: Solution, places: Mapping[int, Point]) -> None:
    """A line per destination and arc, right of the link as one travels, as wide as its rate."""
    network = solution.problem.network
    flows: dict[tuple[int, int], float] = {}
    destinations = _destinations(solution)
    for used in solution.used:
        for node, path in zip(used.commodity.terminals, used.tree.paths, strict=True):
            color = destinations[used.commodity.session, node]
            for arc in path:
                flows[color, arc] = flows.get((color, arc), 0.0) + used.rate
    for (color, index), rate in flows.items():
        tail, head = (places[n] for n in (network.arcs[index].tail, network.arcs[index].head))
        aside = right(tail, head) * _APART * (color + 0.7)
        width = _WIDEST * rate / solution.rate
        style = {"arrowstyle": "-|>", "color": color_of(color), "linewidth": max(0.6, width)}
        style |= {"shrinkA": 7, "shrinkB": 7, "mutation_scale": 8}
        ax.annotate("", _point(head + aside), _point(tail + aside), arrowprops=style, zorder=2)
    if len(network.arcs) <= _MOST_LABELS:
        _write_loads(ax, solution, places, _APART * (len(destinations) + 0.7))


def _write_loads(
    ax: Axes, solution: Solution, places: Mapping[int, Point], distance: float
) -> None:
    for arc, load in zip(solution.problem.network.arcs, solution.loads.tolist(), strict=True):
        if load > NOTHING * solution.rate:
            tail, head = places[arc.tail], places[arc.head]
            middle = (tail + head) / 2 + right(tail, head) * distance
            ax.text(
                middle[0],
                middle[1],
                f"{load:.3g}/{arc.capacity:.3g}",
                fontsize=6,
                ha="center",
                va="center",
            )


def _draw_nodes(ax: Axes, solution: Solution, places: Mapping[int, Point]) -> None:
    names = solution.problem.network.names
    sources = {session.source for session in solution.problem.sessions}
    fills = {node: color_of(i) for (_, node), i in _destinations(solution).items()}
    for node, place in places.items():
        special = node in fills or node in sources
        fill = BLACK if node in sources else fills.get(node, "white")
        shape = {"boxstyle": "circle", "facecolor": fill, "edgecolor": BLACK, "linewidth": 0.6}
        color = "white" if special else BLACK
        ax.text(
            place[0],
            place[1],
            drawn(str(names[node])),
            fontsize=7,
            color=color,
            ha="center",
            va="center",
            bbox=shape,
            zorder=3,
        )
    handles = [
        Line2D([], [], color=color_of(index), linewidth=2, label=drawn(f"to {names[node]}"))
        for (_, node), index in _destinations(solution).items()
    ]
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=6, frameon=False
    )


def _destinations(solution: Solution) -> dict[tuple[int, int], int]:
    """Each session's destinations, numbered."""
    sessions = enumerate(solution.problem.sessions)
    return {
        pair: i
        for i, pair in enumerate((s, node) for s, session in sessions for node in session.to)
    }


def _point(place: Point) -> tuple[float, float]:
    return float(place[0]), float(place[1])
