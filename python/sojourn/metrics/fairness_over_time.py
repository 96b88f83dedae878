"""How evenly flows share over longer and shorter times, and over unequal round trips."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from sojourn.metrics.columns import EPSILON, Values, mean, ratio
from sojourn.metrics.fairness import jain
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData
from sojourn.metrics.throughput import mean_throughput

_SCALES = (1, 10)
#: Values that are summed at once.
_AT_ONCE = 1 << 20


def jain_over(run: RunData, seconds: float) -> float:
    """Mean of Jain's index over consecutive stretches of so many seconds after the warm-up, each
    of the flows that are active in at least half of it; stretches with fewer than two are left out,
    as is a last one that is not whole.
    """
    view = run.flow
    if view.count < 2 or not len(view.samples.ends):
        return np.nan
    number = np.floor((view.samples.begins - run.warmup + EPSILON) / seconds).astype(int)
    whole = int(np.floor((view.samples.ends[-1] - run.warmup + EPSILON) / seconds))
    within = slice(*np.searchsorted(number, [0, whole]))
    if not len(number[within]):
        return np.nan
    span = view.span[within]
    delivered = np.where(span > 0, view.samples["delivered_bytes"][within], 0.0)
    active = _sums(number[within], span)
    taking_part = active >= seconds / 2
    rates = ratio(_sums(number[within], delivered), active)
    return float(mean(_jain_of_those(rates, taking_part)[:, None])[0])


def _sums(number: NDArray[np.intp], values: Values) -> Values:
    """Sums of the rows of each number, from 0 on: each from its first row to its last, as rounding
    depends on the order. So many columns at a time that it takes no second copy of long ones.
    """
    at_once = max(1, _AT_ONCE // len(number))
    parts = []
    for first in range(0, values.shape[1], at_once):
        some = values[:, first : first + at_once]
        count = some.shape[1]
        places = number[:, None] * count + np.arange(count)
        parts.append(np.bincount(places.ravel(), some.ravel()).astype(float).reshape(-1, count))
    return np.concatenate(parts, axis=1)


def _jain_of_those(rates: Values, which: NDArray[np.bool_]) -> Values:
    """Jain's index of those of each row, of rows with two or more of them."""
    many = which.sum(axis=1)
    index = np.full(len(rates), np.nan)
    for count in np.unique(many[many >= 2]):
        rows = many == count
        index[rows] = jain(rates[rows][which[rows]].reshape(-1, count))
    return index[many >= 2]


def _register(seconds: int) -> None:
    def compute(run: RunData) -> float:
        return jain_over(run, seconds)

    compute.__doc__ = f"Jain's index of throughput over stretches of {seconds} s, then the mean."
    metric(
        "net",
        f"mean_jains_fairness_throughput_{seconds}s_l4",
        quantity=f"Jain's fairness over {seconds} s",
        unit="1",
        aggregator="mean",
        sampling=f"{seconds} s",
        empty="stretches with fewer than two flows left out; null if none is left",
        better="higher",
    )(compute)


for _seconds in _SCALES:
    _register(_seconds)


@metric(
    "net",
    "rtt_fairness_slope_l4",
    low=-inf,
    quantity="slope of throughput over base RTT",
    unit="1",
    aggregator="least squares",
    sampling="run",
    empty="null if base RTTs are all alike; flows that deliver nothing left out",
)
def rtt_fairness_slope(run: RunData) -> float:
    """Slope of the logarithm of the flows' mean throughputs over that of their base RTTs: 0 where
    the round trip does not matter, -1 where throughput is inverse to it.
    """
    throughput, rtt = mean_throughput(run), run.flow.base_rtt
    known = (throughput > 0) & (rtt > 0)
    if len(np.unique(rtt[known])) < 2:
        return np.nan
    return float(np.polyfit(np.log(rtt[known]), np.log(throughput[known]), 1)[0])
