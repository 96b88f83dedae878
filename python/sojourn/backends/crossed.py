"""Which of programs' bytes crossed the bottleneck, and which went past it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.metrics import RunData
from sojourn.metrics.columns import Link, rate_of
from sojourn.numbers import number

#: Less than this share of all bytes is not warned of: acknowledgments of transports over UDP, and
#: what programs agree on beside a transfer.
WORTH_TELLING = 0.1


@dataclass(frozen=True)
class Crossed:
    """Bytes that were delivered."""

    #: Over a bottleneck, and on ways that have none.
    over: float = 0.0
    past: float = 0.0
    #: How long the latter took, s.
    seconds: float = 0.0


def crossed(data: RunData, flows: Sequence[int] | None = None) -> Crossed:
    """Of a run's flows, or of those with these numbers."""
    view = data.flow
    if not view.count:
        return Crossed()
    chosen = np.full(view.count, flows is None)
    chosen[list(flows or ())] = True
    free = np.array([link is None for link in view.bottlenecks], dtype=bool)
    delivered = view.samples["delivered_bytes"].sum(axis=0)
    past = chosen & free
    seconds = float(view.end[past].max() - view.start[past].min()) if past.any() else 0.0
    return Crossed(float(delivered[chosen & ~free].sum()), float(delivered[past].sum()), seconds)


def slowest(links: Sequence[Link]) -> float:
    """The rate in bit/s of the slowest link; infinite if none has one."""
    return min(map(rate_of, links), default=np.inf)


def amount(size: float, seconds: float, rate: float) -> str:
    """So many bytes in so long, beside the rate of the scenario's slowest link."""
    of = "" if rate == np.inf else f"; the scenario's rate: {number(rate * 1e-6)} Mbit/s"
    took = size * 8e-6 / max(seconds, 1e-9)
    return f"{number(size * 1e-6)} MB in {number(seconds)} s ({number(took)} Mbit/s{of})"
