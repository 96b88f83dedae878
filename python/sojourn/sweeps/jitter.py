"""Start jitter: each flow of each replication starts a little later, by chance."""

from __future__ import annotations

import hashlib
from typing import Any

from sojourn.quantity import number
from sojourn.scenario import Document, expanded_flows


def draw(seed: int, flow: int) -> float:
    """A number in [0, 1) that depends on the seed and the flow's id only."""
    digest = hashlib.blake2b(f"start jitter {seed} {flow}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def jittered(canonical: Document, jitter: str) -> Document:
    """The scenario with every flow's start moved by a uniform draw up to ``jitter``."""
    largest = number(jitter)
    flows = [
        _later(flow, largest * draw(canonical["seed"], index))
        for index, flow in enumerate(expanded_flows(canonical))
    ]
    return {**canonical, "flows": flows}


def _later(flow: dict[str, Any], by: float) -> dict[str, Any]:
    start = round((number(flow["start"]) + by) * 1e9)
    return {**flow, "start": f"{start} ns"}
