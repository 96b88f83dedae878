"""How fast flows come to share evenly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sojourn.metrics.columns import Values
from sojourn.metrics.fairness import AT_ONCE, jain
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
    first = int(np.searchsorted(view.samples.begins, entry - 1e-9))
    if first == len(view.samples.ends):
        return np.nan

    def is_fair(delivered: Values) -> NDArray[np.bool_]:
        return jain(delivered) >= _FAIR

    def is_much(delivered: Values) -> NDArray[np.bool_]:
        return np.all(delivered >= packets, axis=1)

    fair = _until(view.samples["delivered_bytes"][first:], is_fair)
    much = _until(view.samples["delivered_packets"][first:], is_much)
    reached = np.flatnonzero(fair & much)
    return float(view.samples.ends[first + reached[0]] - entry) if len(reached) else np.nan


def _until(values: Values, tell: Callable[[Values], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """What ``tell`` finds of the sums of the rows until each, some rows at a time."""
    before, found = np.zeros(values.shape[1]), []
    for begin in range(0, len(values), AT_ONCE):
        sums = before + np.cumsum(values[begin : begin + AT_ONCE], axis=0)
        before = sums[-1]
        found.append(tell(sums))
    return np.concatenate(found)
