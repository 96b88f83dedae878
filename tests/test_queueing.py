"""Exact queues beside queues by hand, and beside plain simulations of random ones."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.oracles.queueing import lindley, mean_present, pk_md1, ps

#: Pairs of the time since the last arrival and a work; jobs that arrive together, or want nothing.
JOBS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=20)


def shared_slowly(arrivals: list[float], works: list[float]) -> list[float]:
    """Processor sharing from instant to instant: all works that are left, served one by one."""
    left: dict[int, float] = {}
    departures = [inf] * len(arrivals)
    now, arrived = 0.0, 0
    while left or arrived < len(arrivals):
        next_arrival = arrivals[arrived] if arrived < len(arrivals) else inf
        next_end = now + min(left.values(), default=inf) * len(left) if left else inf
        then = min(next_arrival, next_end)
        left = {job: work - (then - now) / len(left) for job, work in left.items()}
        now = then
        if next_arrival < next_end:
            left[arrived] = works[arrived]
            arrived += 1
            continue
        for job in [job for job, work in left.items() if work < 1e-9]:
            departures[job] = now
            del left[job]
    return departures


def test_jobs_share_the_server() -> None:
    # The first is alone for 1 s, then there are two, then three, then two, then one again.
    assert ps([0, 1, 2], [3, 1, 1]) == pytest.approx([5, 3.5, 4.5])
    assert ps([0, 0], [1, 1]) == pytest.approx([2, 2])
    assert ps([1e6, 1e6 + 5], [1, 2]).tolist() == [1e6 + 1, 1e6 + 7]
    assert ps([], []).shape == (0,)


@given(JOBS)
def test_sharing_is_as_a_plain_simulation_does_it(jobs: list[tuple[int, int]]) -> None:
    arrivals = np.cumsum([gap for gap, _ in jobs], dtype=float)
    works = np.array([work for _, work in jobs], dtype=float)
    expected = shared_slowly(arrivals.tolist(), works.tolist())
    assert ps(arrivals, works) == pytest.approx(expected, abs=1e-6)


@given(JOBS)
def test_waits_are_as_a_queue_in_order_has_them(jobs: list[tuple[int, int]]) -> None:
    arrivals = np.cumsum([gap for gap, _ in jobs], dtype=np.int64)
    services = np.array([work for _, work in jobs], dtype=np.int64)
    free, waits = 0, []
    for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        begin = max(free, arrival)
        waits.append(begin - arrival)
        free = begin + service
    found = lindley(arrivals, services)
    assert found.dtype == np.int64
    assert found.tolist() == waits


def test_waits_by_hand() -> None:
    assert lindley([0, 1, 2, 9], [3, 3, 1, 1]).tolist() == [0, 2, 4, 0]


def test_means_are_those_of_the_closed_forms() -> None:
    """M/D/1 waits as Pollaczek and Khinchine say; M/G/1-PS takes 1 / (1 - rho) times the work."""
    rho = 0.5
    arrivals = np.cumsum(np.random.default_rng(1).exponential(1 / rho, 100_000))
    works = np.ones_like(arrivals)
    assert lindley(arrivals, works).mean() == pytest.approx(pk_md1(rho), rel=0.03)
    assert (ps(arrivals, works) - arrivals).mean() == pytest.approx(1 / (1 - rho), rel=0.03)
    assert pk_md1(0.8) == pytest.approx(2.0)
    assert pk_md1(0) == 0


def test_presence_is_that_within_the_time_asked_for() -> None:
    # Present in [2, 6]: 1 s of the first, 2 s of the second, 1 s of the third, which stays.
    assert mean_present([0, 3, 5, 7], [3, 5, np.nan, 8], 2, 6) == pytest.approx(1.0)


@given(JOBS)
def test_littles_law(jobs: list[tuple[int, int]]) -> None:
    arrivals = np.cumsum([gap for gap, _ in jobs], dtype=float)
    departures = ps(arrivals, [work for _, work in jobs])
    stop = departures.max(initial=0) + 1
    stays = float((departures - arrivals).sum())
    assert mean_present(arrivals, departures, 0, stop) == pytest.approx(stays / stop)


@pytest.mark.parametrize("queue", [ps, lindley])
def test_what_is_no_list_of_jobs_is_refused(queue: Callable[[Any, Any], object]) -> None:
    for arrivals, works, why in (
        ([1, 0], [1, 1], "arrivals: times that fall"),
        ([0, 1], [1, -1], "works: -1 given"),
        ([0, 1], [1], r"works: shape \(1,\) given; expected \(2,\)"),
    ):
        with pytest.raises(ValueError, match=why):
            queue(arrivals, works)
    with pytest.raises(ValueError, match="rho: 1 given"):
        pk_md1(1)
