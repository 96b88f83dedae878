"""Confidence intervals: Student's for means, the bootstrap's (BCa) for quantiles."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from sojourn.statistics.values import CONFIDENCE, Interval, Values, defined

_RESAMPLES = 9999


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval | None:
    """Of the mean; ``None`` where values are fewer than two or all equal: they say nothing about
    their spread.
    """
    from scipy.special import stdtrit

    known = defined(values)
    if len(np.unique(known)) < 2:
        return None
    half = stdtrit(len(known) - 1, 0.5 + confidence / 2) * known.std(ddof=1) / np.sqrt(len(known))
    return Interval(float(known.mean() - half), float(known.mean() + half))


def quantile_interval(
    values: ArrayLike, quantile: float = 0.5, confidence: float = CONFIDENCE
) -> Interval | None:
    """Of a quantile, the median by default; ``None`` where resampling cannot tell."""
    from scipy.stats import DegenerateDataWarning, bootstrap

    known = defined(values)
    if len(np.unique(known)) < 2:
        return None

    def statistic(resampled: Values, axis: int) -> Values:
        return np.quantile(resampled, quantile, axis=axis)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        found = bootstrap(
            (known,),
            statistic,
            confidence_level=confidence,
            n_resamples=_RESAMPLES,
            method="BCa",
            rng=np.random.default_rng(0),
        ).confidence_interval
    return Interval(float(found.low), float(found.high)) if np.isfinite(found.low) else None
