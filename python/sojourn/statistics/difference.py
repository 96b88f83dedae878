"""How two samples differ: many pairs of samples of equal sizes at once.

Every function takes two arrays of one row per comparison and one column per replication; paired
ones have the same replications in the same columns.
"""

from __future__ import annotations

import warnings

import numpy as np

from sojourn.statistics.values import CONFIDENCE, Values

#: Resamples of the permutation test: all comparisons begin with the first; those whose p-value is
#: below ``_PROMISING`` go on with the next, at last with as many as the correction needs: so many
#: times the least that could tell a p-value from its level, which are all permutations of the
#: fewest replications that can, and enough of more for chance to decide little.
_STAGES = (999, 9999)
_FINER = 5
_PROMISING = 0.1
#: Differences of means are alike if they are to so many decimals of the largest value: rounding
#: would tell equal resamples apart, and in another way where the sides are swapped.
_DECIMALS = 12
#: So many numbers are resampled at a time.
_AT_ONCE = 5_000_000


def intervals(a: Values, b: Values, *, paired: bool) -> tuple[Values, Values]:
    """Ends of Student's interval of the difference of the means, Welch's where unpaired; NaN where
    no values differ from each other.
    """
    from scipy.stats import ttest_ind, ttest_rel

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # rows of equal values
        test = ttest_rel(a, b, axis=1) if paired else ttest_ind(a, b, axis=1, equal_var=False)
        found = test.confidence_interval(CONFIDENCE)
    known = found.high > found.low
    return np.where(known, found.low, np.nan), np.where(known, found.high, np.nan)


def cliffs_delta(a: Values, b: Values) -> Values:
    """How much likelier a value of ``a`` exceeds one of ``b`` than the other way: -1 to 1."""
    from scipy.stats import mannwhitneyu

    wins = mannwhitneyu(a, b, axis=1, method="asymptotic").statistic
    return np.asarray(2 * wins / (a.shape[1] * b.shape[1]) - 1)


def p_values(a: Values, b: Values, level: float, *, paired: bool) -> Values:
    """Of permutation tests of the means' difference, fine enough to be told from ``level``."""
    p = np.ones(len(a))
    finest = max(_STAGES[-1], int(np.ceil(2 * _FINER / level)))
    left = np.arange(len(a))
    for resamples in (*(stage for stage in _STAGES if stage < finest), finest):
        p[left] = _permuted(a[left], b[left], resamples, paired=paired)
        left = np.flatnonzero(p < _PROMISING)
        if not len(left):
            break
    return p


def _permuted(a: Values, b: Values, resamples: int, *, paired: bool) -> Values:
    rows = max(1, _AT_ONCE // resamples)  # which share the permutations
    parts = [
        _test(a[first : first + rows], b[first : first + rows], resamples, paired=paired)
        for first in range(0, len(a), rows)
    ]
    return np.concatenate(parts)


def _test(a: Values, b: Values, resamples: int, *, paired: bool) -> Values:
    from scipy.stats import permutation_test

    largest = np.maximum(np.abs(a).max(axis=1), np.abs(b).max(axis=1))[:, None]
    largest[largest == 0] = 1
    a, b = a / largest, b / largest

    def mean(differences: Values, axis: int) -> Values:
        return np.asarray(np.mean(differences, axis=axis)).round(_DECIMALS)

    def difference(x: Values, y: Values, axis: int) -> Values:
        return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis)).round(_DECIMALS)

    return np.asarray(
        permutation_test(
            (a - b,) if paired else (a, b),
            mean if paired else difference,
            permutation_type="samples" if paired else "independent",
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, _AT_ONCE // 2 // (a.size + b.size)),
            axis=1,
            rng=np.random.default_rng(0),
        ).pvalue
    )


def equivalence(a: Values, b: Values, margins: Values, *, paired: bool) -> Values:
    """p-values of the two one-sided tests that the means differ by less than the margin; 1 where no
    values differ from each other.
    """
    from statsmodels.stats.weightstats import ttost_ind, ttost_paired

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # rows of equal values
        if paired:
            p = ttost_paired(a.T, b.T, -margins, margins)[0]
        else:
            p = ttost_ind(a.T, b.T, -margins, margins, usevar="unequal")[0]
    spread = np.ptp(a - b, axis=1) if paired else np.ptp(a, axis=1) + np.ptp(b, axis=1)
    return np.where(spread > 0, p, 1.0)
