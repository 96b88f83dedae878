"""A network of links with capacity and latency, and the sessions that want to use it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

#: A node as the file writes it.
Name = str | int


@dataclass(frozen=True)
class Arc:
    """One direction of a link, between nodes by index; its latency in the network's steps."""

    tail: int
    head: int
    capacity: float
    latency: int


@dataclass(frozen=True)
class Network:
    """Nodes and arcs."""

    names: Sequence[Name]
    arcs: Sequence[Arc]
    #: Arcs 2i and 2i + 1 are the two directions of one link; else every arc is a link.
    duplex: bool
    #: Latencies are whole numbers of ``1 / steps`` of the file's unit.
    steps: int

    @cached_property
    def out(self) -> Sequence[Sequence[int]]:
        """Arcs that leave each node."""
        return self._at([arc.tail for arc in self.arcs])

    @cached_property
    def into(self) -> Sequence[Sequence[int]]:
        """Arcs that reach each node."""
        return self._at([arc.head for arc in self.arcs])

    def _at(self, ends: Sequence[int]) -> Sequence[Sequence[int]]:
        lists: list[list[int]] = [[] for _ in self.names]
        for index, node in enumerate(ends):
            lists[node].append(index)
        return lists

    def link(self, arc: int) -> int:
        """The first arc of an arc's link."""
        return arc & ~1 if self.duplex else arc

    def latencies(self, node: int, *, backwards: bool = False) -> list[float]:
        """The least latency from a node to each (``backwards``: from each to it)."""
        return distances(self, node, [arc.latency for arc in self.arcs], backwards=backwards)

    def steps_within(self, deadline: Fraction | None) -> float:
        """The deadline in whole steps."""
        return inf if deadline is None else deadline * self.steps // 1


@dataclass(frozen=True)
class Session:
    """One source, and destinations that all receive the same."""

    source: int
    to: Sequence[int]
    #: The session's rate is this times the rate that is maximised.
    weight: float = 1.0


@dataclass(frozen=True)
class Units:
    """In which results are told; empty for bare numbers."""

    rate: str = ""
    time: str = ""


@dataclass(frozen=True)
class Problem:
    """What a file asks."""

    name: str
    network: Network
    sessions: Sequence[Session]
    deadline: Fraction | None
    units: Units

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every source with each of its destinations."""
        return ((s.source, node) for s in self.sessions for node in s.to)

    def pair_names(self) -> Mapping[tuple[int, int], str]:
        """How results call a pair: its destination, with the source if there are sessions."""
        names = self.network.names
        if len(self.sessions) == 1:
            return {pair: str(names[pair[1]]) for pair in self.pairs()}
        return {pair: f"{names[pair[0]]}->{names[pair[1]]}" for pair in self.pairs()}


def told(value: float, unit: str) -> str:
    """A value with its unit, if it has one."""
    return f"{value:.6g} {unit}".rstrip()


def distances(
    network: Network, node: int, lengths: Sequence[float], *, backwards: bool = False
) -> list[float]:
    """Shortest lengths from a node to each (``backwards``: from each to it), by Dijkstra."""
    found = [inf] * len(network.names)
    found[node] = 0
    incident = network.into if backwards else network.out
    heap: list[tuple[float, int]] = [(0, node)]
    while heap:
        length, near = heapq.heappop(heap)
        if length > found[near]:
            continue
        for index in incident[near]:
            far = network.arcs[index].tail if backwards else network.arcs[index].head
            longer = length + lengths[index]
            if longer < found[far]:
                found[far] = longer
                heapq.heappush(heap, (longer, far))
    return found
