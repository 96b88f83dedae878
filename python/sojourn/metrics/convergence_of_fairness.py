"""How fast flows come to share evenly."""

from __future__ import annotations

import numpy as np

from sojourn.metrics.fairness import jain
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

_FAIR = 0.95


@metric(
    "net",
    "convergence_time_jain_l4",
    quantity="convergence time of fairness",
    unit="s",
    aggregator="first",
    empty="null if never reached, or with one flow",
    better="lower",
)
def convergence_time_jain(run: RunData) -> float:
    """From the entry of the last flow: when Jain's index of the bytes delivered since then first
    reaches 0.95.
    """
    return _convergence_time(run, 0)


@metric(
    "net",
    "convergence_time_jain_past_100_l4",
    quantity="convergence time of fairness",
    unit="s",
    aggregator="first",
    empty="null if never reached, or with one flow",
    better="lower",
)
def convergence_time_jain_past_100(run: RunData) -> float:
    """The same, but not before every flow has delivered 100 packets since then: the first few
    packets of flows may be even by chance.
    """
    return _convergence_time(run, 100)


def _convergence_time(run: RunData, packets: int) -> float:
    view = run.flow
    if view.count < 2:
        return np.nan
    entry = float(np.maximum(view.start, run.warmup).max())
    since = view.samples.begins >= entry - 1e-9
    index = jain(np.cumsum(view.samples["delivered_bytes"][since], axis=0))
    delivered = np.cumsum(view.samples["delivered_packets"][since], axis=0)
    reached = np.flatnonzero((index >= _FAIR) & (delivered >= packets).all(axis=1))
    return float(view.samples.ends[since][reached[0]] - entry) if len(reached) else np.nan
