"""The largest rate that all streams can have at once, by any routing and network coding.

For each receiver of a stream the stream's rate flows from its source; what the flows of its
receivers need of a link is shared, and what streams need adds up. Of one stream it is what
``sojourn capacity`` computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.papers.gnat2021.overlay.oracle import Arc, arcs

#: Bytes beside a message of 1,024: UDP and IP; number and destinations, SLIQ, UDP, IP, Ethernet.
_PAYLOAD = 1_024
_OVERHEAD = 28 + 4 + 8 + 16 + 28 + 14


def bound(canonical: Mapping[str, Any], at: float) -> float:
    """The rate of payload of each stream, Mbit/s, when links are as they are at a time."""
    found: dict[tuple[str, str], list[str]] = {}
    for flow in canonical["flows"]:
        if "group" in flow.get("service", {}):
            found.setdefault((flow["label"], flow["from"]), []).append(flow["to"])
    streams = [(source, tuple(to)) for (_, source), to in found.items()]
    share = _PAYLOAD / (_PAYLOAD + _OVERHEAD)
    return share * largest(arcs(canonical, at), streams)


def largest(links: Sequence[Arc], streams: Sequence[tuple[str, Sequence[str]]]) -> float:
    """The largest equal rate of streams, each a source and its receivers, in the links' unit.

    Streams alike, with the same ends, are one with a multiple of the rate.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    kinds: dict[tuple[str, tuple[str, ...]], int] = {}
    for source, to in streams:
        kinds[source, tuple(to)] = kinds.get((source, tuple(to)), 0) + 1
    nodes = sorted({node for arc in links for node in arc.ends})
    count = len(links)
    columns = 1  # the rate
    equal: list[tuple[int, int, float]] = []
    upper: list[tuple[int, int, float]] = []
    limits = [arc.rate for arc in links]
    rows = 0
    for (source, to), times in kinds.items():
        shared, columns = columns, columns + count
        upper += [(a, shared + a, 1.0) for a in range(count)]
        for receiver in to:
            flow, columns = columns, columns + count
            for a in range(count):
                upper += [(len(limits), flow + a, 1.0), (len(limits), shared + a, -1.0)]
                limits.append(0.0)
            for node in nodes:
                if node == receiver:
                    continue
                for a, arc in enumerate(links):
                    if node in arc.ends:
                        equal.append((rows, flow + a, 1.0 if arc.ends[0] == node else -1.0))
                if node == source:
                    equal.append((rows, 0, -float(times)))
                rows += 1

    def matrix(entries: list[tuple[int, int, float]], height: int) -> Any:
        row, column, value = zip(*entries, strict=True)
        return coo_array((value, (row, column)), shape=(height, columns))

    costs = [-1.0] + [0.0] * (columns - 1)
    solved = linprog(
        costs,
        matrix(upper, len(limits)),
        limits,
        matrix(equal, rows),
        [0.0] * rows,
        (0, None),
        method="highs",
    )
    return float(solved.x[0])
