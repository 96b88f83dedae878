"""The cheapest tree from a source to some nodes within the deadline; for one node, a path.

The resource-constrained shortest path problem, and with several terminals the delay-constrained
Steiner arborescence: labels (cost, latency to the last terminal) grow from the terminals towards
the source and join where they meet (Dreyfus and Wagner 1971, with dominance in two criteria).
Costs and latencies are not negative, so that walks need not be kept from crossing themselves. Work
grows as 3 to the power of the number of terminals.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import NamedTuple

from sojourn.capacity.network import Network, distances


@dataclass(frozen=True)
class Tree:
    """Arcs from a source that reach every terminal in time."""

    cost: float
    #: For each terminal the arcs of its path, from the source.
    paths: tuple[tuple[int, ...], ...]

    @property
    def arcs(self) -> frozenset[int]:
        """Every arc once, as copies are made where paths part."""
        return frozenset(arc for path in self.paths for arc in path)


class _Label(NamedTuple):
    """A partial tree: from a node to the terminals in a set (of bits)."""

    node: int
    served: int
    latency: int
    cost: float
    #: The arc to its only child; with two children, these join here; with none, a terminal.
    arc: int | None = None
    children: tuple[_Label, ...] = ()

    def arcs(self) -> set[int]:
        """All arcs below the label."""
        found = set()
        waiting = [self]
        while waiting:
            label = waiting.pop()
            if label.arc is not None:
                found.add(label.arc)
            waiting.extend(label.children)
        return found


@dataclass
class Search:
    """Trees from one source to its terminals within a deadline, for any costs."""

    network: Network
    source: int
    terminals: Sequence[int]
    deadline: float
    _into: list[list[tuple[int, int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        self.ahead = self.network.latencies(self.source)
        # Without a deadline no latency matters, and the search is Dijkstra's.
        timed = self.deadline < inf
        arcs = self.network.arcs
        self._into = [
            [(i, arcs[i].tail, arcs[i].latency if timed else 0) for i in into]
            for into in self.network.into
        ]

    @property
    def reachable(self) -> bool:
        """Whether every terminal has a path within the deadline."""
        return all(self.ahead[n] < inf and self.ahead[n] <= self.deadline for n in self.terminals)

    def cheapest(self, costs: Sequence[float]) -> Tree:
        """The tree of least cost; among equals one of low latency.

        Every terminal must be within reach of the deadline.
        """
        reach = distances(self.network, self.source, costs)
        everything = (1 << len(self.terminals)) - 1
        fastest: dict[tuple[int, int], int] = {}
        settled: dict[int, list[_Label]] = {}
        number = count()
        heap: list[tuple[float, int, int, _Label]] = []

        def push(label: _Label) -> None:
            key = (label.node, label.served)
            if label.latency + self.ahead[label.node] > self.deadline:
                return
            if key not in fastest or label.latency < fastest[key]:
                entry = (label.cost + reach[label.node], label.latency, next(number), label)
                heapq.heappush(heap, entry)

        for bit, node in enumerate(self.terminals):
            push(_Label(node, 1 << bit, 0, 0.0))
        while heap:
            label = heapq.heappop(heap)[-1]
            key = (label.node, label.served)
            # Labels of a node come in the order of their costs: only a faster one is of use.
            if key in fastest and label.latency >= fastest[key]:
                continue
            if label.node == self.source and label.served == everything:
                return self._tree(label)
            fastest[key] = label.latency
            for index, tail, latency in self._into[label.node]:
                cost, late = label.cost + costs[index], label.latency + latency
                push(_Label(tail, label.served, late, cost, index, (label,)))
            if label.served != everything:
                here = settled.setdefault(label.node, [])
                for joined in _joined(label, here):
                    push(joined)
                here.append(label)
        raise AssertionError("a terminal is out of reach")

    def _tree(self, label: _Label) -> Tree:
        """The label's arcs, without those that equal costs may have left beside the tree."""
        factor = len(self.network.names) + 1
        lengths = [inf] * len(self.network.arcs)
        for index in label.arcs():
            # Fewer arcs among equal latencies; positive, so that the reverse path is a path.
            lengths[index] = self.network.arcs[index].latency * factor + 1
        found = distances(self.network, self.source, lengths)
        return Tree(label.cost, tuple(self._path(node, found, lengths) for node in self.terminals))

    def _path(self, node: int, found: Sequence[float], lengths: Sequence[float]) -> tuple[int, ...]:
        """The arcs of the shortest path to a node, given all lengths and distances."""
        path: list[int] = []
        while node != self.source:
            into = self.network.into[node]
            tails = {index: self.network.arcs[index].tail for index in into}
            index = next(i for i, tail in tails.items() if found[tail] + lengths[i] == found[node])
            path.append(index)
            node = tails[index]
        return tuple(reversed(path))


def _joined(label: _Label, others: Sequence[_Label]) -> Iterator[_Label]:
    """With each of the others at its node that serves other terminals."""
    return (_join(label, other) for other in others if not other.served & label.served)


def _join(a: _Label, b: _Label) -> _Label:
    latency = max(a.latency, b.latency)
    return _Label(a.node, a.served | b.served, latency, a.cost + b.cost, children=(a, b))
