"""The maximum of utilities over all ways of routing.

The maximum of a sum of logarithms over a polytope, by linear programs with more and more tangents.
What SLIQ acknowledges goes on the other direction of each link, what TCP answers back to the source
by any way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import NamedTuple

import numpy as np

from sojourn.capacity.program import Afresh, Floats, fairest
from sojourn_reproductions.gnat2021.headers import ACKNOWLEDGED, SACK

#: A part of what goes between two nodes that is too small to put it out of order.
_FEW = 0.01
#: What a rate is at least, so that it has a logarithm, and at most, Mbit/s.
_LEAST, _MOST = 1e-6, 1e4


@dataclass(frozen=True)
class Class:
    """Flows alike."""

    label: str
    count: int
    ends: tuple[str, str]
    priority: float
    #: Payload each offers, Mbit/s.
    offered: float
    #: Bytes of a packet: payload, and all else on the wire.
    payload: float
    headers: float
    #: Bytes on the wire of the answer to each, as TCP gives; 0 without.
    answer: float
    #: Seconds until its packets are worthless.
    deadline: float


@dataclass(frozen=True)
class Arc:
    """A direction of a link."""

    ends: tuple[str, str]
    #: Mbit/s, less what messages about queues take.
    rate: float
    #: Seconds.
    delay: float


class _Commodity(NamedTuple):
    """What one class sends one way."""

    #: The class's number.
    flow: int
    ends: tuple[str, str]
    #: Bits on the wire per bit of the class's payload.
    weight: float
    #: Bytes of a packet on the wire.
    size: float


def best(links: Sequence[Arc], flows: Sequence[Class]) -> dict[str, float]:
    """The utility maximum, by label."""
    rates, scattered = _best(links, flows, frozenset())
    if scattered:
        rates, _ = _best(links, flows, scattered)
    return {flow.label: rate for flow, rate in zip(flows, rates, strict=True)}


def _best(
    links: Sequence[Arc], flows: Sequence[Class], scattered: frozenset[int]
) -> tuple[list[float], frozenset[int]]:
    """The rates at the utility maximum, and the classes with answers whose packets take several
    ways there; answers to those in ``scattered`` have SACKs.
    """
    program = _Program(links, flows, scattered)
    first = ((c, 10.0**power) for c in range(len(flows)) for power in range(-4, 4))
    rates = fairest(program.touch, program.solve, first)
    return rates, program.scattered()


class _Program:
    """The polytope: a commodity for each class and for its answers, over the arcs it may take.

    Columns: arcs of each commodity, then each class's rate, then its utility.
    """

    def __init__(
        self, links: Sequence[Arc], flows: Sequence[Class], scattered: frozenset[int]
    ) -> None:
        self._links, self._flows = links, flows
        sent = [_sent(c, flow) for c, flow in enumerate(flows)]
        answered = ((c, flow) for c, flow in enumerate(flows) if flow.answer)
        back = [_answers(c, flow, c in scattered) for c, flow in answered]
        self._commodities = sent + back
        self._program = Afresh()
        #: What each commodity puts on each arc.
        self._taken = [self._program.columns(len(links)) for _ in self._commodities]
        self._rates = [self._rate(flow) for flow in flows]
        self._utilities = [self._utility(flow) for flow in flows]
        self._balance()
        self._limit()
        self._values: Floats = np.empty(0)

    def _rate(self, flow: Class) -> int:
        return self._program.columns(1, least=_LEAST, most=min(flow.offered, _MOST))[0]

    def _utility(self, flow: Class) -> int:
        return self._program.columns(1, cost=-flow.count * flow.priority, least=-inf)[0]

    def _balance(self) -> None:
        """What comes into a node leaves it, but at the ends of a commodity."""
        nodes = sorted({node for arc in self._links for node in arc.ends})
        for taken, (flow, (source, target), weight, _) in self._each():
            for node in nodes:
                if node == target:
                    continue
                entries = {
                    column: 1.0 if arc.ends[0] == node else -1.0
                    for column, arc in zip(taken, self._links, strict=True)
                    if node in arc.ends
                }
                if node == source:
                    entries[self._rates[flow]] = -self._flows[flow].count * weight
                self._program.equal(0.0, entries)

    def _limit(self) -> None:
        """Capacities, and ways that are too slow."""
        other = other_directions(self._links)
        for a, arc in enumerate(self._links):
            entries = {}
            for taken, commodity in self._each():
                entries[taken[a]] = 1.0
                if a in other:
                    entries[taken[other[a]]] = ACKNOWLEDGED / commodity.size
            self._program.at_most(arc.rate, entries)
        for taken, commodity in self._each():
            for a in self._slow(commodity.ends, self._flows[commodity.flow].deadline):
                self._program.at_most(0.0, {taken[a]: 1.0})

    def _each(self) -> Iterator[tuple[range, _Commodity]]:
        """Commodities, each with its columns."""
        return zip(self._taken, self._commodities, strict=True)

    def touch(self, flow: int, rate: float) -> None:
        """The utility of a class is below the tangent of the logarithm at a rate."""
        below = {self._utilities[flow]: 1.0, self._rates[flow]: -1.0 / rate}
        self._program.at_most(log(rate) - 1.0, below)

    def solve(self) -> tuple[Sequence[float], Sequence[float]]:
        """The rates and the utilities at the optimum."""
        self._values = self._program.solve()
        return self._values[self._rates].tolist(), self._values[self._utilities].tolist()

    def scattered(self) -> frozenset[int]:
        """The classes with answers of which a node sends packets to several others at the optimum.
        Those with the same ends wait in the same queues, whichever of them has the ways here.
        """
        taken: defaultdict[tuple[tuple[str, str], int], float] = defaultdict(float)
        sent: defaultdict[tuple[str, str], float] = defaultdict(float)
        for c, flow in enumerate(self._flows):
            sent[flow.ends] += flow.count * self._values[self._rates[c]]
            for a, column in enumerate(self._taken[c]):
                taken[flow.ends, a] += self._values[column]
        leaves = Counter(
            (ends, self._links[a].ends[0])
            for (ends, a), rate in taken.items()
            if rate > _FEW * sent[ends]
        )
        several = {ends for (ends, _), ways in leaves.items() if ways > 1}
        found = (c for c, flow in enumerate(self._flows) if flow.answer and flow.ends in several)
        return frozenset(found)

    def _slow(self, ends: tuple[str, str], deadline: float) -> list[int]:
        """Arcs that no packet of a commodity can take in time."""
        if deadline == inf:
            return []
        there, back = self._distances(ends[0], 0), self._distances(ends[1], 1)
        return [
            a
            for a, arc in enumerate(self._links)
            if there.get(arc.ends[0], inf) + arc.delay + back.get(arc.ends[1], inf) > deadline
        ]

    def _distances(self, start: str, side: int) -> dict[str, float]:
        """The least delay from a node (side 0) or to it (side 1)."""
        least = {start: 0.0}
        for _ in self._links:
            for arc in self._links:
                near, far = arc.ends[side], arc.ends[1 - side]
                if least.get(near, inf) + arc.delay < least.get(far, inf):
                    least[far] = least[near] + arc.delay
        return least


def _sent(number: int, flow: Class) -> _Commodity:
    size = flow.payload + flow.headers
    return _Commodity(number, flow.ends, size / flow.payload, size)


def _answers(number: int, flow: Class, scattered: bool) -> _Commodity:
    size = flow.answer + (SACK if scattered else 0)
    return _Commodity(number, flow.ends[::-1], size / flow.payload, size)


def other_directions(links: Sequence[Arc]) -> dict[int, int]:
    """The number of the arc that goes back, by that of the arc, where there is one.

    Of links between the same nodes the first goes with the first.
    """
    found: dict[int, int] = {}
    for a, arc in enumerate(links):
        free = (b for b in range(a) if b not in found and links[b].ends == arc.ends[::-1])
        b = next(free, None)
        if b is not None:
            found[a], found[b] = b, a
    return found
