"""The maximum of utilities over all ways of routing.

The maximum of a sum of logarithms over a polytope, by linear programs with more and more tangents.
What SLIQ acknowledges goes on the other direction of each link, what TCP answers back to the source
by any way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any, NamedTuple

#: What SLIQ answers per packet on the link's other direction: an ACK of every two, with the times
#: of both, SLIQ, UDP, IP, Ethernet.
ACKNOWLEDGED = (16 + 2 * 8 + 28 + 14) / 2
#: Three blocks of SACK in an answer to packets that take several ways and come out of order.
_SACK = 28
#: A part of what goes between two nodes that is too small to put it out of order.
_FEW = 0.01
#: Tangents until the linear program and the utility agree as nearly as this.
_NEAR = 1e-6
_ROUNDS = 60


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
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    program = _Program(links, flows, scattered)
    size = program.columns
    costs = np.zeros(size)
    costs[program.utility] = [-f.count * f.priority for f in flows]
    bounds: list[tuple[float | None, float | None]]
    bounds = [(0.0, None)] * (size - 2 * len(flows))
    bounds += [(1e-6, min(f.offered, 1e4)) for f in flows] + [(None, None)] * len(flows)
    tangents = [(c, 10.0**power) for c in range(len(flows)) for power in range(-4, 4)]
    for _ in range(_ROUNDS):
        rows, limits = program.limits(tangents)
        upper = coo_array((rows[2], (rows[0], rows[1])), shape=(len(limits), size))
        equal, sums = program.balance
        keep = coo_array((equal[2], (equal[0], equal[1])), shape=(len(sums), size))
        solved = linprog(costs, upper, limits, keep, sums, bounds)
        rates = solved.x[program.rate]
        excess = solved.x[program.utility] - np.log(rates)
        if excess.max() < _NEAR:
            break
        tangents += [(c, float(rate)) for c, rate in enumerate(rates)]
    return [float(rate) for rate in rates], program.scattered(solved.x)


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
        first = len(self._commodities) * len(links)
        self.rate = slice(first, first + len(flows))
        self.utility = slice(first + len(flows), first + 2 * len(flows))
        self.columns = first + 2 * len(flows)
        self.balance = self._balance()

    def _balance(self) -> tuple[list[list[Any]], list[float]]:
        nodes = sorted({node for arc in self._links for node in arc.ends})
        entries: list[list[Any]] = [[], [], []]
        sums: list[float] = []
        for index, (flow, (source, target), weight, _) in enumerate(self._commodities):
            for node in nodes:
                if node == target:
                    continue
                row = len(sums)
                sums.append(0.0)
                for a, arc in enumerate(self._links):
                    if node in arc.ends:
                        sign = 1.0 if arc.ends[0] == node else -1.0
                        _enter(entries, row, index * len(self._links) + a, sign)
                if node == source:
                    each = -self._flows[flow].count * weight
                    _enter(entries, row, self.rate.start + flow, each)
        return entries, sums

    def limits(self, tangents: Sequence[tuple[int, float]]) -> tuple[list[list[Any]], list[float]]:
        """Capacities, ways that are too slow, and the tangents above the logarithm."""
        entries: list[list[Any]] = [[], [], []]
        limits: list[float] = []
        other = other_directions(self._links)
        for a, arc in enumerate(self._links):
            for index, commodity in enumerate(self._commodities):
                first = index * len(self._links)
                _enter(entries, len(limits), first + a, 1.0)
                if a in other:
                    _enter(entries, len(limits), first + other[a], ACKNOWLEDGED / commodity.size)
            limits.append(arc.rate)
        for index, commodity in enumerate(self._commodities):
            for a in self._slow(commodity.ends, self._flows[commodity.flow].deadline):
                _enter(entries, len(limits), index * len(self._links) + a, 1.0)
                limits.append(0.0)
        for flow, at in tangents:
            _enter(entries, len(limits), self.utility.start + flow, 1.0)
            _enter(entries, len(limits), self.rate.start + flow, -1.0 / at)
            limits.append(log(at) - 1.0)
        return entries, limits

    def scattered(self, columns: Sequence[float]) -> frozenset[int]:
        """The classes with answers of which a node sends packets to several others. Those with the
        same ends wait in the same queues, whichever of them has the ways here.
        """
        taken: defaultdict[tuple[tuple[str, str], int], float] = defaultdict(float)
        sent: defaultdict[tuple[str, str], float] = defaultdict(float)
        for c, flow in enumerate(self._flows):
            sent[flow.ends] += flow.count * columns[self.rate.start + c]
            for a in range(len(self._links)):
                taken[flow.ends, a] += columns[c * len(self._links) + a]
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
    size = flow.answer + (_SACK if scattered else 0)
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


def _enter(entries: list[list[Any]], row: int, column: int, value: float) -> None:
    for entry, item in zip(entries, (row, column, value), strict=True):
        entry.append(item)
