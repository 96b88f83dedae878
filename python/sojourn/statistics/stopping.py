"""How many replications make an interval narrow enough: Stein's two-stage procedure.

The first ``least`` replications are the pilot. Their standard deviation s says how many there have
to be in all, N = (t s / d)^2 for a half width d, and it alone is what the interval is made of:
mean of all N ± t s / sqrt(N), Student's t with ``least - 1`` degrees of freedom. The mean of N
independent normal values, standardised, does not depend on s, and hence not on N: the interval's
coverage is exact whatever N turns out to be, which that of an interval from all N values, looked at
until it is narrow enough, is not. It is exact as well for other metrics of the same runs.

So is that of the difference of paired runs, from the spread of the pilots' differences. Where runs
are not paired, the error of the difference is a sum of two of Student's, each scaled by its side's
s / sqrt(N): a t of the smaller pilot's degrees of freedom and of their joint size covers no less.

Stein, C. (1945), A Two-Sample Test for a Linear Hypothesis Whose Power is Independent of the
Variance, Annals of Mathematical Statistics 16(3). Here d is relative to the pilot's mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from sojourn.statistics.values import CONFIDENCE, Interval, Values, defined


@dataclass(frozen=True)
class Until:
    """Replications until the interval of a metric's mean is narrow enough."""

    #: Half width over mean.
    width: float
    #: The metric.
    of: str
    least: int
    most: int

    def needed(self, pilot: ArrayLike) -> int:
        """How many replications there have to be, from the first ones' values."""
        known = defined(pilot)
        if len(np.unique(known)) < 2:  # further ones would tell no more
            return self.least
        width = self.width * abs(known.mean())
        half = t_quantile(len(known)) * known.std(ddof=1)
        return max(self.least, ceil(min((half / width) ** 2, self.most))) if width else self.most


def interval(values: ArrayLike, pilot: int) -> Interval | None:
    """Of the mean of all values, the first ``pilot`` of which said how many there are."""
    known, first = defined(values), defined(np.asarray(values, float)[:pilot])
    if len(np.unique(first)) < 2:
        return None
    half = t_quantile(len(first)) * first.std(ddof=1) / np.sqrt(len(known))
    return Interval(float(known.mean() - half), float(known.mean() + half))


@dataclass(frozen=True)
class Difference:
    """Of two means, a - b, one of which at least is of runs that were stopped by a rule."""

    #: Student's interval of it.
    interval: Interval
    #: p-values of there being a difference, and of there being none beyond the margin.
    differs: float
    same: float


def difference(
    a: Values, b: Values, pilots: tuple[Values, Values], margin: float, *, paired: bool
) -> Difference | None:
    """``pilots`` are the values that said how many there are; if paired, those of the same runs
    in the same places.
    """
    from scipy.special import stdtr

    parts = [(a - b, pilots[0] - pilots[1])] if paired else [(a, pilots[0]), (b, pilots[1])]
    least = min(len(pilot) for _, pilot in parts)
    if least < 2 or not any(np.ptp(pilot) for _, pilot in parts):
        return None
    error = np.sqrt(sum(pilot.var(ddof=1) / len(values) for values, pilot in parts))
    middle = float(a.mean() - b.mean())
    half = float(t_quantile(least) * error)
    within = stdtr(least - 1, (margin - abs(middle)) / error)
    return Difference(
        Interval(middle - half, middle + half),
        differs=float(2 * stdtr(least - 1, -abs(middle) / error)),
        same=float(1 - within),
    )


def t_quantile(count: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Student's, of a two-sided interval from so many values."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.clip(np.asarray(count) - 1, 1, None), 0.5 + CONFIDENCE / 2))
