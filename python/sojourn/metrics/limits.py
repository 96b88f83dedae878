"""What kept each sender from sending more, as shares of its time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

#: What may limit a sender, and when it does.
LIMITS = {
    "cwnd": "the congestion window was full",
    "pacing": "the sender waited for the next instant that pacing allows",
    "receiver": "the receiver's window kept the sender from sending more",
    "send_buffer": "everything in a full send buffer was sent",
    "application": "the application had no more to send",
}


def _whole(run: RunData) -> Values:
    """From the handshake to the end of the transfer: all limits together or, where some of them are
    unknown, as in live runs, what was active of that time.
    """
    whole = sum((run.flow.total(f"limited_by_{name}") for name in LIMITS), start=np.float64(0))
    since = np.maximum(run.flow.table["established_at"].astype(float), run.warmup)
    return np.where(np.isnan(whole), np.clip(run.flow.end - since, 0.0, None), whole)


def _share_of(limit: str, when: str) -> Callable[[RunData], Values]:
    def share(run: RunData) -> Values:
        return 100 * ratio(run.flow.total(f"limited_by_{limit}"), _whole(run))

    share.__doc__ = f"Share of the time in which {when}."
    return share


for _limit, _when in LIMITS.items():
    metric(
        "flow",
        f"limited_by_{_limit}_l4",
        quantity="limited time",
        unit="%",
        aggregator="share",
    )(_share_of(_limit, _when))
