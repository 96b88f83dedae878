"""The scenarios in which the kernel's sources are replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RATE = 20e6
_OUTAGE = {
    "kind": "steps",
    "steps": [{"at": "10 s", "value": "100 %"}, {"at": "12 s", "value": "0 %"}],
}
#: Bottlenecks of 20 Mbit/s, round trip 40 ms, 30 s, for one flow.
CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "deep buffer": {"queue": {"kind": "fifo", "limit": "4 bdp"}},
    "shallow buffer": {"queue": {"kind": "fifo", "limit": "0.5 bdp"}},
    "loss": {"queue": {"kind": "fifo", "limit": "1 bdp"}, "loss": "1 %"},
    "timeout": {"queue": {"kind": "fifo", "limit": "1 bdp"}, "loss_schedule": _OUTAGE},
}
#: For controls that need marks.
MARKS: Mapping[str, Mapping[str, Any]] = {
    "marks": {"queue": {"kind": "codel", "ce_threshold": "3 ms", "ecn": True}}
}
#: What goes through the discipline, and whether it is ECN-capable: 20 s.
TRAFFIC: Mapping[str, tuple[bool, list[dict[str, Any]]]] = {
    "three flows": (
        False,
        [{"cca": "cubic", "rtt": "40 ms", "start": f"{index} s"} for index in range(3)],
    ),
    "three flows, ECN": (
        True,
        [
            {"cca": "cubic", "rtt": "40 ms", "start": f"{index} s", "ecn": "classic"}
            for index in range(3)
        ],
    ),
    "overload": (
        False,
        [
            {"cca": "reno", "rtt": "40 ms"},
            {
                "transport": "udp",
                "rtt": "40 ms",
                "traffic": {"kind": "cbr", "rate": "25 Mbit/s"},
                "start": "5 s",
                "stop": "10 s",
            },
        ],
    ),
}


def of_control(situation: str, cca: Any) -> dict[str, Any]:
    """One flow with this control."""
    link = (dict(CONTROLS) | dict(MARKS))[situation]
    flow = {"cca": cca, "rtt": "40 ms"}
    if situation in MARKS:
        flow["ecn"] = "dctcp"
    return _scenario(30, link, [flow])


def of_queue(situation: str, queue: Any) -> dict[str, Any]:
    """The traffic over this discipline."""
    return _scenario(20, {"queue": queue}, TRAFFIC[situation][1])


def _scenario(seconds: int, link: Mapping[str, Any], flows: list[dict[str, Any]]) -> dict[str, Any]:
    bottleneck = {"rate": f"{RATE / 1e6:g} Mbit/s", **link}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return {"duration": f"{seconds} s", "topology": topology, "flows": flows}
