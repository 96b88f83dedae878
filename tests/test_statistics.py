"""Intervals cover, verdicts err as seldom as they promise, and stopping keeps both."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from sojourn.statistics import (
    Pair,
    Until,
    difference,
    judge,
    mean_interval,
    planning,
    quantile_interval,
    stopping,
)

TRIALS = 1000


@pytest.fixture(autouse=True)
def _no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """statsmodels collects garbage for each correction; here are thousands."""
    monkeypatch.setattr("gc.collect", lambda: 0)


def draws(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def covered(low: float, mean: float, high: float) -> bool:
    return low <= mean <= high


def test_students_interval_covers_the_mean() -> None:
    intervals = [mean_interval(10 + row) for row in draws(TRIALS, 5)]
    assert (
        0.93 <= np.mean([i is not None and covered(i.low, 10, i.high) for i in intervals]) <= 0.97
    )


def test_bootstrap_interval_covers_the_median() -> None:
    skewed = np.random.default_rng(2).exponential(size=(200, 40))
    intervals = [quantile_interval(row) for row in skewed]
    share = np.mean([i is not None and covered(i.low, np.log(2), i.high) for i in intervals])
    assert 0.90 <= share <= 0.99


@pytest.mark.parametrize("values", [[], [1.0], [3.0, 3.0, 3.0], [np.nan, 1.0]])
def test_values_without_spread_have_no_interval(values: list[float]) -> None:
    assert mean_interval(values) is None
    assert quantile_interval(values) is None
    assert stopping.interval(values, 5) is None


@pytest.mark.parametrize("spread", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("least", [5, 10])
def test_stopping_keeps_the_coverage(spread: float, least: int) -> None:
    """A known mean of 1, 95 % intervals; from no stopping at all to hundreds of runs."""
    until = Until(0.05, "throughput", least, 1000)
    hits, runs = 0, []
    for values in 1 + spread * draws(TRIALS, 1000, seed=least):
        count = until.needed(values[:least])
        runs.append(count)
        found = stopping.interval(values[:count], least)
        assert found is not None
        assert count == 1000 or found.high - found.low <= 2.01 * 0.05 * values[:least].mean()
        hits += covered(found.low, 1, found.high)
    assert 0.93 <= hits / TRIALS <= 0.97
    assert np.mean(runs) > least


def test_stopping_keeps_the_coverage_of_a_correlated_metric() -> None:
    until, hits = Until(0.05, "throughput", 5, 300), 0
    for one, other in zip(draws(TRIALS, 300, seed=3), draws(TRIALS, 300, seed=4), strict=True):
        count = until.needed(1 + 0.1 * one[:5])
        found = stopping.interval(7 + one[:count] + 0.5 * other[:count], 5)
        assert found is not None
        hits += covered(found.low, 7, found.high)
    assert 0.93 <= hits / TRIALS <= 0.97


@pytest.mark.parametrize("paired", [False, True])
def test_stopping_keeps_the_coverage_of_a_difference(paired: bool) -> None:
    """Two sides of one mean, each with as many runs as its own pilot asks for. Student's interval
    of all values covers too seldom where runs are not paired.
    """
    until, pilot = Until(0.05, "throughput", 5, 300), np.arange(300) < 5
    pairs, ordinary = [], 0
    for a, b in zip(*(1 + 0.1 * draws(2, TRIALS, 300, seed=6)), strict=True):
        n, m = until.needed(a[:5]), until.needed(b[:5])
        n, m = (min(n, m), min(n, m)) if paired else (n, m)
        pilots = (pilot[:n], pilot[:m])
        pairs.append(Pair(a[:n], b[:m], paired, "higher", 0.01, pilots))
        ordinary += 0 if paired else float(ttest_ind(a[:n], b[:m], equal_var=False).pvalue) < 0.05
    found = [judge([pair])[0] for pair in pairs]
    assert all(f.low is not None and f.high is not None for f in found)
    hits = sum(covered(f.low or 0, 0, f.high or 0) for f in found)
    assert 0.93 <= hits / TRIALS <= 0.97
    wrong = sum(f.verdict in ("better", "worse") for f in found)
    assert wrong <= TRIALS - hits  # a verdict is no surer than the interval
    assert paired or ordinary / TRIALS > 0.07


def test_students_interval_looked_at_until_it_is_narrow_does_not_cover() -> None:
    """What the two stages are for."""
    hits, trials = 0, TRIALS // 4  # each looks up to a hundred times
    for values in 1 + 0.1 * draws(trials, 100, seed=5):
        for count in range(3, 101):
            found = mean_interval(values[:count])
            assert found is not None
            if found.high - found.low <= 0.1:
                break
        hits += covered(found.low, 1, found.high)
    assert hits / trials < 0.93


def test_a_pilot_that_says_nothing_is_not_continued() -> None:
    until = Until(0.05, "throughput", 5, 100)
    assert until.needed([2.0] * 5) == 5
    assert until.needed([np.nan] * 5) == 5
    assert until.needed([-1.0, 1.0, -1.0, 1.0, 0.0]) == 100  # of a mean of zero no share is small


@pytest.mark.parametrize("paired", [False, True])
def test_of_all_comparisons_any_is_wrong_in_five_of_a_hundred_cases(paired: bool) -> None:
    alarms = 0
    for trial in range(40):
        a, b = draws(2, 20, 12, seed=trial)
        found = judge(Pair(x, y, paired, "higher", 0.01) for x, y in zip(a, b, strict=True))
        alarms += any(f.verdict != "unsure" for f in found)
    assert alarms <= 5  # 2 expected; the chance of more than 5 is 1 %


@pytest.mark.parametrize(("runs", "comparisons"), [(8, 240), (8, 320), (9, 1000)])
def test_the_fewest_runs_that_can_decide_are_permuted_in_every_way(
    runs: int, comparisons: int
) -> None:
    apart = np.arange(float(runs))[None]
    level = 0.05 / comparisons
    assert planning.fewest(level, paired=False) == runs
    (p,) = difference.p_values(apart + 100, apart, level, paired=False)
    assert p == pytest.approx(2 / comb(2 * runs, runs))
    assert p <= level


def test_verdicts() -> None:
    a, b = draws(2, 20)
    clear = judge(
        [
            Pair(12 + a, 10 + b, better="higher"),
            Pair(12 + a, 10 + b, better="lower"),
            Pair(12 + a, 10 + b),
            Pair(10 + a, 10 + b, margin=5.0),
            Pair(10 + a, 10 + b, better="higher", margin=0.2),
        ]
    )
    assert [f.verdict for f in clear] == ["better", "worse", "different", "same", "unsure"]
    assert all(f.low is not None and f.low <= f.difference <= f.high for f in clear)
    assert [f.more is None for f in clear] == [True, True, True, True, False]
    assert clear[0].effect > 0.7


def test_as_many_more_runs_as_it_says_decide() -> None:
    rng = np.random.default_rng(7)
    decided = []
    for _ in range(60):
        a, b = rng.normal(1.0, 1, 8), rng.normal(0.0, 1, 8)
        (first,) = judge([Pair(a, b, better="higher")])
        if first.more and abs(first.difference - 1) < 0.2:
            more = (rng.normal(1.0, 1, first.more), rng.normal(0.0, 1, first.more))
            (then,) = judge([Pair(*(np.r_[x] for x in zip((a, b), more, strict=True)))])
            decided.append(then.verdict == "different")
    assert len(decided) >= 10
    assert np.mean(decided) >= 0.6


def test_pairs_see_what_their_common_seeds_hide() -> None:
    common, noise = 10 * draws(15), 0.1 * draws(15, seed=9)
    pairs = [Pair(common + 1 + noise, common, paired) for paired in (True, False)]
    assert [f.verdict for f in judge(pairs)] == ["different", "unsure"]


def test_equal_values_are_the_same_and_count_as_no_test() -> None:
    a, b = draws(2, 4)
    equal = Pair(np.zeros(4), np.zeros(4))
    alone, *rest = judge([Pair(a + 5, b)] + [equal] * 50)
    assert {f.verdict for f in rest} == {"same"}
    assert alone.p == pytest.approx(2 / comb(8, 4))


def test_constant_values_that_differ_have_no_interval() -> None:
    (found,) = judge([Pair(np.full(10, 3.0), np.full(10, 2.0))])
    assert (found.verdict, found.difference, found.low, found.high) == ("different", 1, None, None)


def test_single_runs_decide_nothing_unless_they_are_equal() -> None:
    differs, equal = judge([Pair([1.0], [2.0]), Pair([2.0], [2.0])])
    assert (differs.verdict, differs.difference, differs.p, differs.effect) == (
        *("unsure", -1.0),
        *(None, None),
    )
    assert equal.verdict == "same"


def test_a_metric_that_is_no_longer_defined_is_different() -> None:
    lost, unsure, neither = judge(
        [
            Pair([np.nan] * 10, range(10)),
            Pair([np.nan], [1.0]),
            Pair([np.nan] * 3, [np.nan] * 3),
        ]
    )
    assert (lost.verdict, lost.a, lost.n_b) == ("different", None, 10)
    assert unsure.verdict == "unsure"
    assert (neither.verdict, neither.p) == ("unsure", None)


@settings(max_examples=30, deadline=None)
@example([0.0, 0.0, 0.0, 0.0, 0.5, 0.1875], [0.0, 0.0, 0.0, 0.19, 4.282749736378371e-08, 0.5])
@given(
    st.lists(st.floats(-10, 10), min_size=2, max_size=6),
    st.lists(st.floats(-10, 10), min_size=2, max_size=6),
)
def test_swapping_the_sides_swaps_the_finding(a: list[float], b: list[float]) -> None:
    (one,) = judge([Pair(a, b, better="higher", margin=1.0)])
    (other,) = judge([Pair(b, a, better="lower", margin=1.0)])
    assert one.difference == pytest.approx(-other.difference)
    assert one.verdict == other.verdict
    assert one.p == pytest.approx(other.p, abs=0.02) if one.p is not None else other.p is None
