"""Topologies of scenarios as the links of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.errors import ScenarioError

#: Keys of a link with which it has no constant rate or delay.
_CHANGING = ("rate_schedule", "trace", "delay_schedule")


def links_of(topology: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The links of a canonical topology. Without a rate, a link is no limit."""
    kinds = {"graph": _graph, "parking_lot": _parking_lot, "dumbbell": _dumbbell}
    kind = topology["kind"]
    if kind not in kinds:
        raise ScenarioError(f"topology.kind: {kind!r} has no graph; allowed: {', '.join(kinds)}")
    return list(kinds[kind](topology))


def _graph(topology: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for index, link in enumerate(topology["links"]):
        ends = (link["from"], link["to"])
        yield _link(f"links.{index}", link, ends, directed=not link["duplex"])


def _parking_lot(topology: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for index, hop in enumerate(topology["hops"]):
        near, far = f"n{index}", f"n{index + 1}"
        yield _link(f"hops.{index}", hop, (near, far), directed=True)
        yield _link("reverse", topology["reverse"], (far, near), directed=True)


def _dumbbell(topology: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    ends = ("senders", "receivers")
    yield _link("bottleneck", topology["bottleneck"], ends, directed=True)
    yield _link("reverse", topology["reverse"], ends[::-1], directed=True)


def _link(
    field: str, link: Mapping[str, Any], ends: tuple[str, str], *, directed: bool
) -> dict[str, Any]:
    for key in _CHANGING:
        if key in link:
            raise ScenarioError(f"topology.{field}.{key}: capacity needs constant rates and delays")
    known = {"from": ends[0], "to": ends[1], "latency": link["delay"], "directed": directed}
    return {**known, "capacity": link.get("rate")}
