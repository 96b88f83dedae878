"""Where the nodes of a network are drawn."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np

from sojourn.json_types import Fields
from sojourn.metrics.columns import Values

Node = TypeVar("Node", bound=Hashable)
#: Where it is, or a way from one to another: two numbers.
Point = Values

#: A network of fewer nodes says no more than its links' names do.
_FEWEST_NODES = 3


def placed(edges: tuple[tuple[Node, Node], ...]) -> Mapping[Node, Point]:
    """A place for each node, so that neighbours are 1 apart on average (Kamada and Kawai 1989)."""
    found = _placed(edges)
    return {node: found[node] for edge in edges for node in edge}


@lru_cache(8)  # several figures show the same network
def _placed(edges: tuple[tuple[Hashable, Hashable], ...]) -> Mapping[Hashable, Point]:
    import networkx

    graph = networkx.Graph(edges)
    found = networkx.kamada_kawai_layout(graph)
    length = np.mean([np.hypot(*(found[a] - found[b])) for a, b in graph.edges])
    return {node: place / length for node, place in found.items()}


def right(tail: Point, head: Point) -> Point:
    """The unit vector to the right of one who goes from tail to head."""
    x, y = head - tail
    return np.array([y, -x]) / np.hypot(x, y)


def joined(links: Sequence[Fields]) -> list[int]:
    """Those of a run's links that join two nodes, if it is worth drawing them; else none."""
    inner = [i for i, link in enumerate(links) if None not in (link.get("ends") or [None])]
    nodes = {node for i in inner for node in links[i]["ends"]}
    return inner if len(nodes) >= _FEWEST_NODES else []
