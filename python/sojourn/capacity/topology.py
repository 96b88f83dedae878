"""Topologies of scenarios as the links of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired, Required, TypedDict

from sojourn import literal
from sojourn.errors import ScenarioError

#: Keys of a link with which it has no constant rate or delay.
_CHANGING = ("rate_schedule", "trace", "delay_schedule")


class _Link(TypedDict):
    """What is read of a link."""

    rate: NotRequired[str]
    delay: str


_Ends = TypedDict("_Ends", {"from": str, "to": str})


class _Edge(_Link, _Ends):
    """What is read of a link of a graph."""

    duplex: bool


class _Topology(TypedDict, total=False):
    """A canonical topology of one of the kinds that are read."""

    kind: Required[str]
    links: list[_Edge]
    hops: list[_Link]
    bottleneck: _Link
    reverse: _Link


class Link(_Ends):
    """A link as a file of a graph has it."""

    latency: str
    directed: bool
    capacity: str | None


def links_of(topology: _Topology) -> list[Link]:
    """The links of a canonical topology. Without a rate, a link is no limit."""
    kinds = {"graph": _graph, "parking_lot": _parking_lot, "dumbbell": _dumbbell}
    kind = topology["kind"]
    if kind not in kinds:
        raise ScenarioError(
            f"topology.kind: {literal.given(kind)} has no graph; allowed: {', '.join(kinds)}"
        )
    return list(kinds[kind](topology))


def _graph(topology: _Topology) -> Iterator[Link]:
    for index, link in enumerate(topology["links"]):
        ends = (link["from"], link["to"])
        yield _link(f"links.{index}", link, ends, directed=not link["duplex"])


def _parking_lot(topology: _Topology) -> Iterator[Link]:
    for index, hop in enumerate(topology["hops"]):
        near, far = f"n{index}", f"n{index + 1}"
        yield _link(f"hops.{index}", hop, (near, far), directed=True)
        yield _link("reverse", topology["reverse"], (far, near), directed=True)


def _dumbbell(topology: _Topology) -> Iterator[Link]:
    ends = ("senders", "receivers")
    yield _link("bottleneck", topology["bottleneck"], ends, directed=True)
    yield _link("reverse", topology["reverse"], ends[::-1], directed=True)


def _link(field: str, link: _Link, ends: tuple[str, str], *, directed: bool) -> Link:
    for key in _CHANGING:
        if key in link:
            raise ScenarioError(f"topology.{field}.{key}: capacity needs constant rates and delays")
    return {
        "from": ends[0],
        "to": ends[1],
        "latency": link["delay"],
        "directed": directed,
        "capacity": link.get("rate"),
    }
