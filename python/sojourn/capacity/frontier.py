"""Builds diagrams of paths in a process of its own: JSON in, a line of JSON per pair out.

It is run as a file, because it starts sooner without the package.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import TypedDict

Edge = tuple[int, int]


class Job(TypedDict):
    """The graph of a pair of nodes."""

    source: int
    target: int
    directed: bool
    #: Tail, head, latency.
    edges: list[tuple[int, int, int]]
    #: The arc of each edge.
    arcs: list[int]
    deadline: int


class Found(TypedDict):
    """The paths of a pair of nodes."""

    count: int
    seconds: float
    #: Indices of the edges of each; ``None`` where there are too many.
    listed: list[list[int]] | None


def main() -> None:
    """Reads what to build from standard input."""
    import graphillion  # noqa: F401  (so that what follows fails for want of memory alone)

    request = json.load(sys.stdin)
    if _size() > request["memory"]:
        raise MemoryError
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for job in request["jobs"]:
        print(json.dumps(paths(job, request["listed"])), flush=True)


def _size() -> int:
    """Bytes of addresses that are in use already."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def paths(job: Job, most: int) -> Found:
    """How many paths there are, and which (by indices of edges) if they are at most ``most``."""
    from graphillion import DiGraphSet, GraphSet

    start = time.perf_counter()
    costs = {(tail, head): latency for tail, head, latency in job["edges"]}
    if not costs:
        return {"count": 0, "seconds": 0.0, "listed": []}
    sets = DiGraphSet if job["directed"] else GraphSet
    sets.set_universe(_ordered(list(costs), job["source"]), traversal="as-is")
    find = sets.directed_st_paths if job["directed"] else sets.paths
    found = find(job["source"], job["target"]).cost_le(costs, job["deadline"])
    listed = None
    if (count := found.len()) <= most:
        place = {edge: index for index, edge in enumerate(costs)}
        listed = [[place[edge] for edge in path] for path in found]
    return {"count": count, "seconds": time.perf_counter() - start, "listed": listed}


def _ordered(edges: list[Edge], source: int) -> list[Edge]:
    """The order of the edges that promises the smaller diagram: as given or breadth first."""
    neighbours: dict[int, list[int]] = {}
    for tail, head in edges:
        neighbours.setdefault(tail, []).append(head)
        neighbours.setdefault(head, []).append(tail)
    rank = {source: 0}
    for node in (queue := [source]):
        for near in neighbours[node]:
            if near not in rank:
                rank[near] = len(rank)
                queue.append(near)
    by_rank = sorted(edges, key=lambda e: sorted((rank[e[0]], rank[e[1]]), reverse=True))
    return min(edges, by_rank, key=_states)


def _states(edges: list[Edge]) -> float:
    """Grows with the states of a search in this order: exponential in the frontier's width."""
    last = {node: index for index, edge in enumerate(edges) for node in edge}
    frontier: set[int] = set()
    states = 0.0
    for index, edge in enumerate(edges):
        frontier |= set(edge)
        states += 2.0 ** len(frontier)
        frontier -= {node for node in edge if last[node] == index}
    return states


if __name__ == "__main__":
    main()
