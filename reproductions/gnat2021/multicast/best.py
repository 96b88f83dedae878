"""What multicast streams can have at best, by any routing and network coding.

For each receiver of a stream the stream's rate flows from its source; what the flows of its
receivers need of a link is shared, and what streams need adds up. Of one stream without
acknowledgments it is what ``sojourn capacity`` computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf, log
from typing import Any, NamedTuple

from sojourn.capacity.program import Growing, fairest
from sojourn.quantity import number
from sojourn_reproductions.gnat2021.headers import ACKNOWLEDGED, BETWEEN_MULTICAST, UDP
from sojourn_reproductions.gnat2021.overlay.oracle import arcs
from sojourn_reproductions.gnat2021.overlay.polytope import Arc, other_directions

#: Bytes beside a message.
_OVERHEAD = UDP + BETWEEN_MULTICAST
#: Where each logarithm has tangents at first, as parts of the largest rate for all.
_TANGENTS = tuple(1.25**step for step in range(-8, 9))


class Stream(NamedTuple):
    """What a source sends to its receivers."""

    source: str
    to: tuple[str, ...]
    priority: float = 1.0
    #: The most that it sends of payload, in the links' unit.
    most: float = inf
    #: Bits on the wire per bit of payload, and on the link's other direction per bit on the wire.
    weight: float = 1.0
    acknowledged: float = 0.0


class Best(NamedTuple):
    """Payload that streams can have, in the links' unit."""

    #: The largest rate that all of them can have alike.
    common: float
    #: Of each, where the sum of the utilities, logarithms by priority, is largest; nothing if one
    #: of them has no way.
    each: Sequence[float]


def streams(canonical: Mapping[str, Any]) -> dict[str, Stream]:
    """The multicast streams of a scenario, by label."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for flow in canonical["flows"]:
        if "group" in flow.get("service", {}):
            found.setdefault(flow["label"], []).append(flow)
    return {label: _stream(flows) for label, flows in found.items()}


def _stream(flows: Sequence[Mapping[str, Any]]) -> Stream:
    service, traffic = flows[0]["service"], flows[0]["traffic"]
    size = number(traffic["size"])
    return Stream(
        flows[0]["from"],
        tuple(flow["to"] for flow in flows),
        service["priority"],
        min(number(traffic["rate"]), number(service["ceiling"])) / 1e6,
        (size + _OVERHEAD) / size,
        ACKNOWLEDGED / (size + _OVERHEAD),
    )


def best_of(canonical: Mapping[str, Any], at: float) -> Best:
    """What the streams of a scenario can have, Mbit/s, when links are as they are at a time."""
    return best(arcs(canonical, at), [*streams(canonical).values()])


def best(links: Sequence[Arc], sent: Sequence[Stream]) -> Best:
    """What streams can have over links."""
    kinds = Counter(sent)
    program = _Program(links, kinds)
    common = program.common()
    if common == 0:
        return Best(common, [0.0] * len(sent))
    rates = dict(zip(kinds, program.fair(common), strict=True))
    return Best(common, [rates[stream] for stream in sent])


class _Program:
    """A linear program: what streams can carry over links; those alike are one kind."""

    def __init__(self, links: Sequence[Arc], kinds: Mapping[Stream, int]) -> None:
        self._solver = Growing()
        self._kinds = kinds
        #: The payload of all streams of each kind.
        self._sums = self._solver.columns(len(kinds))
        needs = [self._needs(links, *each) for each in zip(kinds, self._sums, strict=True)]
        other = other_directions(links)
        for a, arc in enumerate(links):
            entries = {columns[a]: 1.0 for columns in needs}
            if a in other:
                backs = zip(kinds, needs, strict=True)
                entries |= {columns[other[a]]: kind.acknowledged for kind, columns in backs}
            self._solver.row(arc.rate, entries)

    def _needs(self, links: Sequence[Arc], stream: Stream, rate: int) -> range:
        """Columns of what a kind needs of each link: as much as its greediest receiver."""
        shared = self._solver.columns(len(links))
        nodes = {node for arc in links for node in arc.ends}
        for receiver in stream.to:
            flow = self._solver.columns(len(links))
            for mine, all_ in zip(flow, shared, strict=True):
                self._solver.row(0.0, {mine: 1.0, all_: -1.0})
            for node in sorted(nodes - {receiver}):
                entries = {
                    column: 1.0 if arc.ends[0] == node else -1.0
                    for column, arc in zip(flow, links, strict=True)
                    if node in arc.ends
                }
                if node == stream.source:
                    entries[rate] = -stream.weight
                self._solver.row(0.0, entries, least=0.0)
        return shared

    def common(self) -> float:
        """The largest rate that every stream can have."""
        (rate,) = self._solver.columns(1, cost=-1.0)
        equal = [
            self._solver.row(0.0, {column: 1.0, rate: -float(times)}, least=0.0)
            for column, times in zip(self._sums, self._kinds.values(), strict=True)
        ]
        self._solver.by("interior points")
        self._solver.solve()
        found = float(self._solver.values[rate])
        self._solver.release(equal)
        self._solver.price(rate, 0.0)
        return found

    def fair(self, start: float) -> list[float]:
        """Of a stream of each kind, the rate at the utility maximum; ``start`` is possible."""
        utilities: list[int] = []
        for column, (kind, times) in zip(self._sums, self._kinds.items(), strict=True):
            utilities += self._solver.columns(1, cost=-times * kind.priority, least=-inf)
            self._solver.row(times * kind.most, {column: 1.0})
        # The solution stays one when rows are given up and the costs change: from it, the primal
        # method goes on in a tenth of a second where others take ten. The first one comes sooner
        # by interior points.
        self._solver.by("primal simplex")
        counts = [*self._kinds.values()]

        def touch(kind: int, rate: float) -> None:
            below = {utilities[kind]: 1.0, self._sums[kind]: -1.0 / (counts[kind] * rate)}
            self._solver.row(log(rate) - 1.0, below)

        def solve() -> tuple[list[float], list[float]]:
            self._solver.solve()
            values = self._solver.values.tolist()
            rates = [values[c] / times for c, times in zip(self._sums, counts, strict=True)]
            return rates, [values[utility] for utility in utilities]

        first = ((kind, part * start) for part in _TANGENTS for kind in range(len(counts)))
        return fairest(touch, solve, first)
