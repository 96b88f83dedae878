"""The models of sections 2.1, 2.2 and 2.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn_reproductions.gnat2021.overlay.experiments import Phase

#: Packets of a generation.
GENERATION = 16
Link = tuple[int, int, float] | tuple[int, int, float, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Run:
    """A run of a section."""

    section: str
    name: str
    model: Mapping[str, Any]
    phases: Sequence[Phase]

    def __hash__(self) -> int:
        return hash((self.section, self.name))


def _model(
    links: Sequence[Link], streams: Sequence[tuple[int, Sequence[int]]], **more: Any
) -> dict[str, Any]:
    return {
        "nodes": 1 + max(end for link in links for end in link[:2]),
        "links": [
            {
                "from": link[0],
                "to": link[1],
                "rate": link[2],
                "changes": [*link[3]] if len(link) > 3 else [],
            }
            for link in links
        ],
        "streams": [{"from": source, "to": [*to]} for source, to in streams],
        **more,
    }


def rate_at(link: Mapping[str, Any], time: float) -> float:
    """The rate of a link at a time, Mbit/s."""
    return float([link["rate"], *(rate for at, rate in link["changes"] if at <= time)][-1])


# 2.1: a source at 0, receivers 5, 6 and 7; four intervals of ten seconds.
CHANGING: Mapping[str, Sequence[Link]] = {
    # A ring 1-2-4-3 of 4 Mbit/s: each side falls to 2 Mbit/s while the others make up for it.
    "ring": (
        (0, 1, 4.3),
        (1, 2, 4.3, [(10, 2.2), (20, 4.3), (30, 2.2)]),
        (1, 3, 4.3, [(20, 2.2)]),
        (2, 4, 4.3),
        (3, 4, 4.3),
        (2, 5, 4.3),
        (4, 6, 4.3),
        (3, 7, 4.3),
    ),
    # Two ways from the source, unequal ones; they change places.
    "two ways": (
        (0, 1, 3.3, [(10, 1.1), (20, 2.2)]),
        (0, 2, 1.1, [(10, 3.3), (20, 2.2)]),
        (1, 3, 4.3),
        (2, 4, 4.3),
        (3, 4, 4.3),
        (3, 5, 4.3),
        (4, 6, 4.3),
        (3, 7, 2.2),
        (4, 7, 2.2),
    ),
    # The butterfly: 5 and 6 have half of it directly, and the other half over 3-4 alone.
    "butterfly": (
        (0, 1, 2.2),
        (0, 2, 2.2),
        (1, 3, 2.2),
        (2, 3, 2.2),
        (3, 4, 2.2, [(20, 4.3), (30, 2.2)]),
        (1, 5, 2.2),
        (2, 6, 2.2),
        (4, 5, 2.2),
        (4, 6, 2.2),
        (1, 7, 2.2, [(10, 3.0)]),
        (2, 7, 2.2),
    ),
}
_TENS = [Phase(name, 10 * at + 4, 10 * at + 10) for at, name in enumerate(("1", "2", "3", "4"))]


def _first() -> list[Run]:
    runs = []
    for name, links in CHANGING.items():
        for coded in (True, False):
            model = _model(
                links,
                [(0, (5, 6, 7))],
                seconds=40.0,
                k=15_000.0,
                packet_bits=8_192.0,
                generation=GENERATION if coded else 0,
            )
            model["streams"][0]["ceiling"] = 4.0
            runs.append(Run("2.1", f"{name} {'coded' if coded else 'routed'}", model, _TENS))
    return runs


# 2.2 and 2.4: a diamond with arms.
_DIAMOND = ((0, 1, 4.0), (1, 2, 4.0), (1, 3, 4.0), (2, 5, 4.0), (3, 7, 4.0), (4, 6, 4.0))
_TEN: Sequence[Link] = (*_DIAMOND, (2, 4, 3.0), (3, 4, 3.0), (2, 8, 4.0), (3, 9, 4.0))
_EIGHT: Sequence[Link] = (*_DIAMOND, (2, 4, 4.0), (3, 4, 4.0))
_FIVE = ((0, (6, 7)), (5, (0, 6, 7)), (7, (0, 5, 6)), (8, (5, 6, 7)), (9, (0, 5, 7)))
QUEUES = (
    "backpressure",
    "zombies",
    "dual-gradient",
    "improved-dual-gradient",
    "improved-zombies",
)
_STEPS = [(15.0, 4.0), (30.0, 1.0)]
#: Two streams share the link that changes; each has two receivers of its own.
_BOTTLENECKS: Mapping[str, tuple[Sequence[Link], Sequence[tuple[int, Sequence[int]]]]] = {
    "short": (
        [
            (0, 2, 10.0),
            (1, 2, 10.0),
            (2, 3, 2.0, _STEPS),
            *((3, end, 10.0) for end in (4, 5, 6, 7)),
        ],
        [(0, (4, 5)), (1, (6, 7))],
    ),
    "long": (
        [
            *((0, 2, 10.0), (1, 2, 10.0), (2, 3, 10.0), (3, 4, 2.0, _STEPS), (4, 5, 10.0)),
            *((4, 6, 10.0), (5, 7, 10.0), (5, 8, 10.0), (6, 9, 10.0), (6, 10, 10.0)),
        ],
        [(0, (7, 8)), (1, (9, 10))],
    ),
    "one source": (
        [(0, 1, 10.0), (1, 2, 2.0, _STEPS), *((2, end, 10.0) for end in (3, 4, 5, 6))],
        [(0, (3, 4)), (0, (5, 6))],
    ),
}
_FIFTEENS = [Phase("2 Mbit/s", 8, 15), Phase("4 Mbit/s", 20, 30), Phase("1 Mbit/s", 38, 45)]


def _second() -> list[Run]:
    runs = []
    for queues in QUEUES:
        model = _model(_TEN, _FIVE, seconds=40.0, queues=queues)
        runs.append(Run("2.2", f"static {queues}", model, [Phase("steady", 25, 40)]))
        for name, (links, streams) in _BOTTLENECKS.items():
            model = _model(links, streams, seconds=45.0, queues=queues)
            runs.append(Run("2.2", f"{name} {queues}", model, _FIFTEENS))
    return runs


_GROUPS = ((0, (6, 7)), (5, (0, 6, 7)), (2, (5, 6, 7)), (3, (0, 5, 7)), (7, (0, 5, 6)))


def _fourth() -> list[Run]:
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("coded", {"generation": GENERATION}),
        ("each", {}),
        ("totals", {"signals": "totals"}),
    )
    runs = []
    for name, more in kinds:
        for k, priority in ((15_000.0, 1.0), (3_000.0, 1.0), (15_000.0, 2.0)):
            model = _model(_EIGHT, _GROUPS, seconds=100.0, k=k, packet_bits=8_192.0, **more)
            model["streams"][0]["priority"] = priority
            title = f"{name} K={k:g}" + (" 2:1" if priority > 1 else "")
            runs.append(Run("2.4", title, model, [Phase("steady", 60, 100)]))
    return runs


RUNS: Sequence[Run] = (*_first(), *_second(), *_fourth())
