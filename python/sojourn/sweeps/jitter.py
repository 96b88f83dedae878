"""Start jitter: each flow of each replication starts a little later, by chance."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable

from sojourn import _internal
from sojourn.quantity import number
from sojourn.scenario import Document, expanded_flows

#: The default is at least so much, s.
LEAST = 0.01


def draw(seed: int, flow: int) -> float:
    """A number in [0, 1) that depends on the seed and the flow's id only."""
    digest = hashlib.blake2b(f"start jitter {seed} {flow}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def jittered(canonical: Document, jitter: str) -> Document:
    """The scenario with every flow's start moved by a uniform draw up to ``jitter``."""
    return _moved(canonical, itertools.repeat(number(jitter)))


def jittered_by_rtt(canonical: Document) -> Document:
    """The same, up to each flow's base RTT, at least 10 ms, at most half of its time: so much that
    replications differ, too little to matter.
    """
    rtts = _internal.base_rtts(json.dumps(canonical))
    flows = expanded_flows(canonical)
    lives = (number(flow["stop"]) - number(flow["start"]) for flow in flows)
    return _moved(
        canonical, [min(max(rtt, LEAST), life / 2) for rtt, life in zip(rtts, lives, strict=True)]
    )


def _moved(canonical: Document, largest: Iterable[float]) -> Document:
    flows = [
        _later(flow, most * draw(canonical["seed"], index))
        for index, (flow, most) in enumerate(zip(expanded_flows(canonical), largest, strict=False))
    ]
    return {**canonical, "flows": flows}


def _later(flow: Document, by: float) -> Document:
    start = round((number(flow["start"]) + by) * 1e9)
    return {**flow, "start": f"{start} ns"}
