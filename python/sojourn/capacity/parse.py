"""The problem that a document states: links, sessions, deadline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, lcm

from sojourn import literal
from sojourn.capacity import fields
from sojourn.capacity.network import Arc, Name, Network, Problem, Session, Units
from sojourn.errors import ScenarioError
from sojourn.names import unknown

_KEYS = ("name", "directed", "links", "sessions", "source", "to", "deadline")
_LINK = ("from", "to", "capacity", "latency", "directed")
_SESSION = ("source", "to", "weight")
#: Of results, where the file has units.
_UNITS = Units("Mbit/s", "ms")


def parse(document: Mapping[str, object]) -> Problem:
    """The problem that a document states."""
    fields.known(document, _KEYS, "the file")
    links = fields.tables(document.get("links"), "links", "from, to, capacity and latency")
    units = _UNITS if any(isinstance(link.get("capacity"), str) for link in links) else Units()
    network = _network(links, units, directed=fields.flag(document, "directed", "directed", False))
    sessions = _sessions(document, network)
    deadline = document.get("deadline")
    time = None if deadline is None else moment(deadline, units)
    return Problem(str(document.get("name", "capacity")), network, sessions, time, units)


def moment(value: object, units: Units) -> Fraction:
    """A deadline."""
    return fields.number(value, "deadline", units.time)


@dataclass(frozen=True)
class _Link:
    """A link as it is written."""

    ends: tuple[Name, Name]
    capacity: float
    latency: Fraction
    directed: bool


def _network(links: Sequence[Mapping[str, object]], units: Units, *, directed: bool) -> Network:
    read = [_link(link, f"links.{i}", units, directed) for i, link in enumerate(links)]
    names = {str(name): name for link in read for name in link.ends}
    places = {name: index for index, name in enumerate(names)}
    steps = lcm(*(link.latency.denominator for link in read))
    arcs: list[Arc] = []
    for link in read:
        tail, head = (places[str(name)] for name in link.ends)
        arc = Arc(tail, head, link.capacity, int(link.latency * steps))
        arcs += [arc] if link.directed else [arc, replace(arc, tail=head, head=tail)]
    return Network(list(names.values()), arcs, not any(link.directed for link in read), steps)


def _link(table: Mapping[str, object], where: str, units: Units, directed: bool) -> _Link:
    fields.known(table, _LINK, where)
    near, far = (fields.name(table.get(key), f"{where}.{key}") for key in ("from", "to"))
    if str(near) == str(far):
        raise ScenarioError(f"{where}.to: {literal.given(far)} is where the link comes from")
    none = f"0 {units.time}" if units.time else 0
    latency = fields.number(table.get("latency", none), f"{where}.latency", units.time)
    one_way = fields.flag(table, "directed", f"{where}.directed", directed)
    return _Link((near, far), _capacity(table, f"{where}.capacity", units), latency, one_way)


def _capacity(link: Mapping[str, object], where: str, units: Units) -> float:
    # Only links of scenarios can be without limit.
    if "capacity" in link and link["capacity"] is None:
        return inf
    if "capacity" not in link:
        raise ScenarioError(f"{where}: missing")
    return float(fields.number(link["capacity"], where, units.rate))


def _sessions(document: Mapping[str, object], network: Network) -> list[Session]:
    if "sessions" not in document:
        return [_session(document, network, "")]
    for key in ("source", "to"):
        if key in document:
            raise ScenarioError(f"{key}: given beside sessions; give one or the other")
    tables = fields.tables(document["sessions"], "sessions", "source, to and weight")
    for index, table in enumerate(tables):
        fields.known(table, _SESSION, f"sessions.{index}")
    return [_session(table, network, f"sessions.{i}.") for i, table in enumerate(tables)]


def _session(table: Mapping[str, object], network: Network, prefix: str) -> Session:
    for key in ("source", "to"):
        if key not in table:
            option = f", or give --{key} NODE" if not prefix else ""
            raise ScenarioError(f"{prefix}{key}: missing; name a node in the file{option}")
    source = _node(table["source"], f"{prefix}source", network)
    to = table["to"] if isinstance(table["to"], list) else [table["to"]]
    if not to:
        raise ScenarioError(f"{prefix}to: empty; name at least one node")
    nodes = list(dict.fromkeys(_node(name, f"{prefix}to", network) for name in to))
    latencies = network.latencies(source)
    for node in nodes:
        if node == source:
            raise ScenarioError(f"{prefix}to: {literal.given(network.names[node])} is the source")
        if latencies[node] == inf:
            far, near = (literal.given(network.names[end]) for end in (node, source))
            ends = f"{far} cannot be reached from {near}"
            raise ScenarioError(f"{prefix}to: {ends}")
    weight = float(fields.number(table.get("weight", 1), f"{prefix}weight", ""))
    if weight == 0:
        raise ScenarioError(f"{prefix}weight: 0 given; allowed: above 0")
    return Session(source, nodes, weight)


def _node(name: object, where: str, network: Network) -> int:
    names = [str(known) for known in network.names]
    if str(name) in names:
        return names.index(str(name))
    raise ScenarioError(f"{where}: {unknown('node', str(name), names)}")
