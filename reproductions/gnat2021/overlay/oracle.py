"""What flows would get in the best case, as a scenario has them.

Links carry what headers, acknowledgments and messages about queues leave of them. What
acknowledgments take follows from when the transports send them, not from a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from sojourn.quantity import number
from sojourn_reproductions.gnat2021.headers import BETWEEN, BETWEEN_TIMED, TCP, UDP
from sojourn_reproductions.gnat2021.overlay.polytope import Arc, Class, best

#: Payload between TCP proxies.
_LARGEST = 1_280


def shares(canonical: Mapping[str, Any], at: float) -> dict[str, float]:
    """The goodput of each flow that is on at a time, by label, in Mbit/s."""
    return best(arcs(canonical, at), classes(canonical, at))


def classes(canonical: Mapping[str, Any], at: float) -> list[Class]:
    """The flows that are on at a time."""
    flows = canonical["flows"]
    on = (flow for flow in flows if number(flow["start"]) <= at < number(flow["stop"]))
    return [_class(flow, at) for flow in on]


def _class(flow: Mapping[str, Any], at: float) -> Class:
    service, traffic = flow["service"], flow["traffic"]
    timed = service.get("deadline")
    udp = _kind(flow["transport"]) == "udp"
    payload = number(traffic["size"]) if udp else min(flow["mss"], _LARGEST)
    own, between = UDP if udp else TCP, BETWEEN_TIMED if timed else BETWEEN
    return Class(
        flow["label"],
        flow["count"],
        (flow["from"], flow["to"]),
        _priority(service, at),
        number(traffic["rate"]) / 1e6 if "rate" in traffic else inf,
        payload,
        own + between,
        0 if udp else TCP + BETWEEN,
        number(timed) if timed else inf,
    )


def _priority(service: Mapping[str, Any], at: float) -> float:
    steps = service.get("priority_schedule", ())
    values = [service["priority"], *(step["value"] for step in steps if number(step["at"]) <= at)]
    return float(values[-1])


def _kind(spec: Any) -> str:
    return str(spec if isinstance(spec, str) else spec["kind"])


def arcs(canonical: Mapping[str, Any], at: float) -> list[Arc]:
    """The directions that carry something at a time."""
    found = []
    nodes = canonical["topology"]["nodes"]
    rest = {node["id"]: 1 - number(node.get("signalling", 0)) for node in nodes}
    for link in canonical["topology"]["links"]:
        ends, delay = (link["from"], link["to"]), number(link["delay"])
        for one, outages in ((ends, link.get("outages", ())), (ends[::-1], _back(link))):
            if not any(_within(outage, at) for outage in outages):
                found.append(Arc(one, rest[one[0]] * _rate(link, at), delay))
    return found


def _back(link: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [outage for outage in link.get("outages", ()) if outage.get("two_way")]


def _within(outage: Mapping[str, Any], at: float) -> bool:
    start = number(outage["start"])
    return start <= at < start + number(outage["duration"])


def _rate(link: Mapping[str, Any], at: float) -> float:
    steps = link.get("rate_schedule", {}).get("steps", ())
    rates = [link["rate"], *(step["value"] for step in steps if number(step["at"]) <= at)]
    return number(rates[-1]) / 1e6
