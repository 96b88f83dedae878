"""Start jitter: each flow of each replication starts a little later, by chance, and so does each
program that is waited for: those that it needs are there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from sojourn import _internal
from sojourn.quantity import number
from sojourn.scenario import Document, expanded_flows

#: The default is at least so much, s.
LEAST = 0.01


def draw(seed: int, who: int | str) -> float:
    """A number in [0, 1) that depends on the seed and on the flow's id, or the program, only."""
    digest = hashlib.blake2b(f"start jitter {seed} {who}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def jittered(canonical: Document, jitter: str) -> Document:
    """The scenario with every flow's start moved by a uniform draw up to ``jitter``."""
    return _moved(canonical, [number(jitter)] * len(expanded_flows(canonical)))


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


def _moved(canonical: Document, largest: Sequence[float]) -> Document:
    """Each flow by up to so much, and programs by up to the largest of that."""
    seed = canonical["seed"]
    flows = [
        _later(flow, most * draw(seed, index))
        for index, (flow, most) in enumerate(zip(expanded_flows(canonical), largest, strict=True))
    ]
    moved: Document = {**canonical, "flows": flows}
    if "programs" in canonical:
        most = max(largest, default=0.0)
        moved["programs"] = [
            _later(one, most * draw(seed, f"program {index}")) if one["wait"] else one
            for index, one in enumerate(canonical["programs"])
        ]
    return moved


def _later(entry: Document, by: float) -> Document:
    start = round((number(entry["start"]) + by) * 1e9)
    return {**entry, "start": f"{start} ns"}
