"""Linear programs: both ways to solve one find the optimum, and logarithms are shared by weight."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.capacity.program import Afresh, Growing, UnlimitedError, fairest

_VALUES = st.lists(st.floats(0.5, 4), min_size=3, max_size=3)


@settings(deadline=None)  # the first example imports the solvers
@given(costs=_VALUES, rows=st.lists(_VALUES, min_size=1, max_size=4), limit=st.floats(1, 9))
def test_what_grows_and_what_is_solved_afresh_have_the_same_optimum(
    costs: Sequence[float], rows: Sequence[Sequence[float]], limit: float
) -> None:
    growing, afresh = Growing(greatest=True), Afresh()
    grown = [growing.column(cost, {}) for cost in costs]
    fresh = [column for cost in costs for column in afresh.columns(1, cost=-cost)]
    for row in rows:
        growing.row(limit, dict(zip(grown, row, strict=True)))
        afresh.at_most(limit, dict(zip(fresh, row, strict=True)))
    assert growing.solve() == pytest.approx(float(np.dot(costs, afresh.solve())))
    # Strong duality: what the rows' limits are worth is the objective.
    assert growing.solve() == pytest.approx(limit * abs(growing.prices).sum())


def test_columns_and_rows_can_be_added_and_given_up_between_solutions() -> None:
    program = Growing(greatest=True)
    shared = program.row(6.0, {})
    first = program.column(1.0, {shared: 1.0})
    assert program.solve() == 6
    better = program.column(3.0, {shared: 2.0})
    assert program.solve() == 9
    row = program.row(1.0, {better: 1.0})
    assert program.solve() == 7
    assert [*program.values] == [4, 1]
    program.price(first, 0.0)
    assert program.solve() == 3
    program.release([row])
    assert program.solve() == 9


def test_rows_that_are_equal_hold_and_what_has_no_solution_is_told() -> None:
    program = Afresh()
    (one, other) = program.columns(2, cost=1.0)
    program.equal(3.0, {one: 1.0, other: 2.0})
    assert [*program.solve()] == pytest.approx([0, 1.5])
    program.at_most(1.0, {other: 2.0})
    assert [*program.solve()] == pytest.approx([2, 0.5])
    program.at_most(1.0, {one: 1.0})
    with pytest.raises(ArithmeticError, match="infeasible"):
        program.solve()
    without = Growing(greatest=True)
    without.columns(1, cost=1.0)
    with pytest.raises(UnlimitedError, match="HiGHS"):
        without.solve()


@settings(deadline=None)
@given(weights=st.lists(st.floats(0.2, 5), min_size=1, max_size=4))
def test_a_link_is_shared_in_proportion_to_the_weights_of_logarithms(
    weights: Sequence[float],
) -> None:
    program = Growing()
    rates = program.columns(len(weights))
    utilities = [u for w in weights for u in program.columns(1, cost=-w, least=-inf)]
    program.row(10.0, dict.fromkeys(rates, 1.0))

    def touch(place: int, at: float) -> None:
        program.row(np.log(at) - 1.0, {utilities[place]: 1.0, rates[place]: -1.0 / at})

    def solve() -> tuple[list[float], list[float]]:
        program.solve()
        return program.values[[*rates]].tolist(), program.values[utilities].tolist()

    first = [(place, 2.0**power) for place in range(len(weights)) for power in range(-6, 6)]
    shares = np.array(weights) * 10 / sum(weights)
    assert fairest(touch, solve, first) == pytest.approx(shares, rel=5e-3)
