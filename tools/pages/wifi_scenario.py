"""Scenarios of stations that send datagrams over a medium, for the page on Wi-Fi."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.json_types import Fields
from sojourn.scenario import Document

#: Bytes of a datagram's payload.
PAYLOAD = 1472


def scenario(medium: Fields, flows: Sequence[Document], stations: int, seconds: float) -> Document:
    """Stations ``s0``, ``s1``, ... and ``ap`` on a medium with these keys."""
    links = [{"id": f"l{n}", "from": f"s{n}", "to": "ap", "medium": "air"} for n in range(stations)]
    return {
        "duration": f"{seconds:g} s",
        "warmup": "500 ms",
        "media": [{"id": "air", "kind": "wifi", **medium}],
        "topology": {"kind": "graph", "links": links},
        "flows": list(flows),
    }


def datagrams(source: str, rate: str) -> Document:
    """A flow that sends more than the medium carries."""
    traffic = {"kind": "cbr", "rate": rate, "size": f"{PAYLOAD} B"}
    return {
        "from": source,
        "to": "ap",
        "rtt": "0 s",
        "transport": "udp",
        "mss": PAYLOAD,
        "traffic": traffic,
    }
