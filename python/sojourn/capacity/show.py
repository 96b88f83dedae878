"""A solution as a document, for JSON and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from sojourn.capacity.network import Name, Network
from sojourn.capacity.solve import NOTHING, Solution


def document(solution: Solution) -> dict[str, Any]:
    """Everything about a solution."""
    deadline = solution.deadline
    return {
        "name": solution.problem.name,
        "deadline": None if deadline is None else plain(float(deadline)),
        "routing": solution.routing,
        "rate": solution.rate,
        "bound": solution.bound,
        "gap": solution.gap,
        "seconds": solution.seconds,
        "path_count": path_count(solution),
        "paths": list(paths(solution)),
        "links": list(links(solution)),
        "note": solution.note,
    }


def path_count(solution: Solution) -> dict[str, int | None]:
    """How many paths reach each destination in time; ``None`` where they were not counted."""
    counted = solution.diagrams.paths
    names = solution.problem.pair_names().items()
    return {name: counted[pair].count if pair in counted else None for pair, name in names}


def paths(solution: Solution) -> Iterator[dict[str, Any]]:
    """The paths that carry traffic; with routing alone those of one tree share its number."""
    network = solution.problem.network
    for number, used in enumerate(solution.used):
        for node, path in zip(used.commodity.terminals, used.tree.paths, strict=True):
            row = {
                "session": used.commodity.session,
                "to": network.names[node],
                "rate": used.rate,
                "latency": plain(sum(network.arcs[a].latency for a in path) / network.steps),
                "nodes": nodes(network, path),
            }
            yield {**row, "tree": number} if solution.routing else row


def nodes(network: Network, path: Sequence[int]) -> list[Name]:
    """The nodes that a path visits."""
    first = network.arcs[path[0]].tail
    return [network.names[n] for n in (first, *(network.arcs[arc].head for arc in path))]


def links(solution: Solution) -> Iterator[dict[str, Any]]:
    """The load of each direction of a link that has one."""
    network = solution.problem.network
    for arc, load in zip(network.arcs, solution.loads.tolist(), strict=True):
        if load > NOTHING * solution.rate:
            capacity = plain(arc.capacity) if arc.capacity < inf else None
            ends = {"from": network.names[arc.tail], "to": network.names[arc.head]}
            yield {**ends, "load": load, "capacity": capacity}


def plain(value: float) -> float | int:
    """A whole number without its point."""
    return int(value) if value == int(value) else value
