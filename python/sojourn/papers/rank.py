"""How far the published order of controls is kept: Kendall's rank correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.stats import DegenerateDataWarning, bootstrap, kendalltau

CONFIDENCE = 0.95
_RESAMPLES = 999
_FEWEST = 4


@dataclass(frozen=True)
class RankCorrelation:
    """Kendall's tau-b with a bootstrap interval over what is ranked."""

    count: int
    tau: float
    low: float
    high: float


@cache
def rank_correlation(published: tuple[float, ...], measured: tuple[float, ...]) -> RankCorrelation:
    """1 if both are in the same order, -1 if in the opposite one.

    The interval is of resampled pairs; resamples in which all are equal have no order and are left
    out of it.

    Raises:
        KeyError: if there is too little to rank.

    """
    if len(published) < _FEWEST:
        raise KeyError(f"at least {_FEWEST} rows with published values")
    with catch_warnings():
        simplefilter("ignore", DegenerateDataWarning)  # of SciPy's own interval, which is not used
        resampled = bootstrap(
            (published, measured),
            _tau,
            paired=True,
            vectorized=False,
            n_resamples=_RESAMPLES,
            method="percentile",
            rng=np.random.default_rng(0),
        ).bootstrap_distribution
    if np.isnan(resampled).all():
        raise KeyError("values that differ")
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(resampled, (tail, 1 - tail)).tolist()
    return RankCorrelation(len(published), _tau(published, measured), low, high)


def _tau(published: Sequence[float], measured: Sequence[float]) -> float:
    return float(kendalltau(published, measured).statistic)
