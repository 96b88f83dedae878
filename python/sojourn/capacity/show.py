"""A solution as a document, for JSON and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import NotRequired, TypedDict

from sojourn.capacity.network import Name, Network
from sojourn.capacity.solve import NOTHING, Solution


class PathRow(TypedDict):
    """A path that carries traffic."""

    session: int
    to: Name
    rate: float
    latency: float
    nodes: list[Name]
    #: With routing alone.
    tree: NotRequired[int]


LinkRow = TypedDict("LinkRow", {"from": Name, "to": Name, "load": float, "capacity": float | None})


class Document(TypedDict):
    """A solution."""

    name: str
    deadline: float | None
    routing: bool
    rate: float
    bound: float
    gap: float
    seconds: float
    path_count: dict[str, int | None]
    paths: list[PathRow]
    links: list[LinkRow]
    note: str | None


def document(solution: Solution) -> Document:
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


def paths(solution: Solution) -> Iterator[PathRow]:
    """The paths that carry traffic; with routing alone those of one tree share its number."""
    network = solution.problem.network
    for number, used in enumerate(solution.used):
        for node, path in zip(used.commodity.terminals, used.tree.paths, strict=True):
            row: PathRow = {
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


def links(solution: Solution) -> Iterator[LinkRow]:
    """The load of each direction of a link that has one."""
    network = solution.problem.network
    for arc, load in zip(network.arcs, solution.loads.tolist(), strict=True):
        if load > NOTHING * solution.rate:
            capacity = plain(arc.capacity) if arc.capacity < inf else None
            tail, head = network.names[arc.tail], network.names[arc.head]
            yield {"from": tail, "to": head, "load": load, "capacity": capacity}


def plain(value: float) -> float | int:
    """A whole number without its point."""
    return int(value) if value == int(value) else value
