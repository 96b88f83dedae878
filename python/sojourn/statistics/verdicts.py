"""Verdicts on the pairs of samples of one family, Holm's correction over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sojourn.statistics import difference, stopping
from sojourn.statistics.planning import fewest, needed
from sojourn.statistics.values import CONFIDENCE, Values

Mask = NDArray[np.bool_]
Verdict = Literal["better", "worse", "same", "different", "unsure"]
#: How probable any wrong verdict among all may be.
LEVEL = 1 - CONFIDENCE


@dataclass(frozen=True)
class Pair:
    """Two samples of one quantity, a value per replication; NaN where it is undefined."""

    a: Values
    b: Values
    #: Whether the same place in both is the same replication.
    paired: bool = False
    #: Which of two values is the better one, if either is.
    better: Literal["higher", "lower"] | None = None
    #: Means that differ by less are the same.
    margin: float = 0.0
    #: Of either side, which of its values said how many there are; ``None`` if nothing did.
    pilots: tuple[Mask, Mask] | None = None


@dataclass(frozen=True)
class Finding:
    """What a pair shows of ``a`` against ``b``; ``None`` is what cannot be known."""

    #: Means of the values that are defined, and how many these are.
    a: float | None
    b: float | None
    n_a: int
    n_b: int
    #: Of the means, a - b, with its 95 % confidence interval.
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    #: Cliff's delta, of a over b.
    effect: float | None = None
    #: Of the permutation test, or of Student's where a rule stopped the runs, after Holm's
    #: correction.
    p: float | None = None
    verdict: Verdict = "unsure"
    #: More runs of each side that would probably decide.
    more: int | None = None


@dataclass
class _Case:
    """A pair while it is being judged."""

    pair: Pair
    a: Values
    b: Values
    finding: Finding
    #: The values that said how many there are.
    pilots: tuple[Values, Values] | None = None
    #: p-values of there being a difference, and of there being none beyond the margin.
    differs: float | None = None
    same: float = 1.0

    @property
    def testable(self) -> bool:
        """Whether there are replications, and any two values that differ."""
        return min(len(self.a), len(self.b)) > 1 and not self.equal

    @property
    def equal(self) -> bool:
        """Whether the two sides agree in every value."""
        if not len(self.a) or not len(self.b):
            return False
        if self.pair.paired:
            return bool((self.a == self.b).all())
        return len(np.unique(np.concatenate([self.a, self.b]))) == 1


def judge(pairs: Iterable[Pair], level: float = LEVEL) -> list[Finding]:
    """A finding on each pair; the chance of any false one is ``level`` for differences, and the
    same for equivalences.
    """
    from statsmodels.stats.multitest import multipletests

    cases = [_case(pair) for pair in pairs]
    tested = [case for case in cases if case.testable]
    one_sided = [case for case in cases if _only_one_defined(case)]
    level_each = level / max(len(tested) + len(one_sided), 1)
    stopped = [case for case in tested if case.pilots is not None]
    for (n_a, n_b, paired), group in _alike(c for c in tested if c.pilots is None).items():
        _test(group, level_each, paired=paired, sizes=(n_a, n_b))
    for case in stopped:
        _test_stopped(case)
    for case in one_sided:
        case.differs = _of_being_defined(case.pair)
    family = [case for case in cases if case.differs is not None]
    if family:
        differs = multipletests([c.differs for c in family], level, method="holm")[1]
        same = multipletests([c.same for c in family], level, method="holm")[1]
        for case, p, p_same in zip(family, differs, same, strict=True):
            _decide(case, float(p), float(p_same), level, level_each)
    return [
        replace(case.finding, verdict="same") if case.equal and case.differs is None
        else case.finding
        for case in cases
    ]  # fmt: skip


def replications_needed(pairs: Sequence[Pair], level: float = LEVEL) -> int | None:
    """Replications of each side that any difference among so many takes, however large it is;
    ``None`` if there is nothing to be told apart by permutations.
    """
    tested = [case for case in map(_case, pairs) if not case.equal and case.pilots is None]
    if not tested:
        return None
    return fewest(level / len(tested), paired=all(case.pair.paired for case in tested))


def _case(pair: Pair) -> _Case:
    a, b = np.asarray(pair.a, float), np.asarray(pair.b, float)
    of_a, of_b = ~np.isnan(a), ~np.isnan(b)
    pilots = None
    if pair.paired and (of_a & of_b).any():
        of_a = of_b = of_a & of_b
    if pair.pilots:
        first_a, first_b = pair.pilots
        if pair.paired:
            first_a = first_b = first_a & first_b
        pilots = a[of_a & first_a], b[of_b & first_b]
    a, b = a[of_a], b[of_b]
    mean_a = float(a.mean()) if len(a) else None
    mean_b = float(b.mean()) if len(b) else None
    distance = None if mean_a is None or mean_b is None else mean_a - mean_b
    return _Case(pair, a, b, Finding(mean_a, mean_b, len(a), len(b), distance), pilots)


def _alike(cases: Iterable[_Case]) -> dict[tuple[int, int, bool], list[_Case]]:
    """Cases by sizes, so that each group is one array."""
    groups: dict[tuple[int, int, bool], list[_Case]] = defaultdict(list)
    for case in cases:
        groups[len(case.a), len(case.b), case.pair.paired].append(case)
    return groups


def _test(cases: Sequence[_Case], level: float, *, paired: bool, sizes: tuple[int, int]) -> None:
    a, b = (np.array([getattr(case, side) for case in cases]) for side in "ab")
    assert (a.shape[1], b.shape[1]) == sizes
    margins = np.array([case.pair.margin for case in cases])
    low, high = difference.intervals(a, b, paired=paired)
    effect = difference.cliffs_delta(a, b)
    differs = difference.p_values(a, b, level, paired=paired)
    same = difference.equivalence(a, b, margins, paired=paired)
    for i, case in enumerate(cases):
        case.differs, case.same = float(differs[i]), float(same[i])
        case.finding = replace(
            case.finding, low=_known(low[i]), high=_known(high[i]), effect=float(effect[i])
        )


def _test_stopped(case: _Case) -> None:
    """As :func:`_test`, of runs whose number followed from the first ones."""
    pair = case.pair
    assert case.pilots is not None
    found = stopping.difference(case.a, case.b, case.pilots, pair.margin, paired=pair.paired)
    (effect,) = difference.cliffs_delta(case.a[None], case.b[None])
    case.differs, case.same = (found.differs, found.same) if found else (1.0, 1.0)
    low, high = found.interval if found else (None, None)
    case.finding = replace(case.finding, low=low, high=high, effect=float(effect))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _only_one_defined(case: _Case) -> bool:
    return (len(case.a) == 0) != (len(case.b) == 0)


def _of_being_defined(pair: Pair) -> float:
    """p-value of Fisher's test that a value is as often defined on both sides."""
    from scipy.stats import fisher_exact

    counts = [
        [int(np.isnan(side).sum()), int((~np.isnan(side)).sum())] for side in (pair.a, pair.b)
    ]
    return float(fisher_exact(counts).pvalue)


def _decide(case: _Case, p: float, p_same: float, level: float, level_each: float) -> None:
    found, better = case.finding, case.pair.better
    verdict: Verdict = "unsure"
    more = None
    if p_same <= level:
        verdict = "same"
    elif p <= level:
        verdict = "different"
        if better and found.difference:
            verdict = "better" if (found.difference > 0) == (better == "higher") else "worse"
    else:
        more = _more(case, level_each)
    case.finding = replace(found, p=p, verdict=verdict, more=more)


def _more(case: _Case, level: float) -> int | None:
    """Further runs of each side that would decide, at the level that Holm's correction begins
    with.
    """
    if not case.testable:
        return None
    a, b, paired = case.a, case.b, case.pair.paired
    deviation = np.std(a - b, ddof=1) if paired else np.hypot(np.std(a, ddof=1), np.std(b, ddof=1))
    assert case.finding.difference is not None
    runs = needed(case.finding.difference, float(deviation), case.pair.margin, level)
    if runs is None:
        return None
    least = 2 if case.pilots else fewest(level, paired=paired)
    return max(1, max(runs, least) - min(len(a), len(b)))
