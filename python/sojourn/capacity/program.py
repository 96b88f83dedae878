"""Linear programs, as those who state them need them: columns, rows, a solution.

Two ways to solve one. ``Growing`` keeps the solver, to which columns and rows are added between
solutions and which goes on from the last one. ``Afresh`` begins anew each time, with the rows in
the order of their kinds. Both find the same optimum; where several solutions have it, each its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, log
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import coo_array

Floats = NDArray[np.float64]
#: A row or column that the entry belongs to, and its coefficient.
Entries = Mapping[int, float]
#: A quantity by its place, and the value at which its logarithm has a tangent.
Tangent = tuple[int, float]
#: Tangents until the linear program and the logarithms agree as nearly as this.
_NEAR = 1e-6
_ROUNDS = 60
#: HiGHS's number of the primal simplex method.
_PRIMAL = 4


class UnlimitedError(ArithmeticError):
    """The objective has no limit."""


class Growing:
    """A program that the solver (HiGHS) keeps."""

    def __init__(self, *, greatest: bool = False) -> None:
        """An empty one; of the least cost, unless the ``greatest`` is wanted."""
        import highspy

        self._solver = highspy.Highs()  # type: ignore[no-untyped-call]
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("threads", 1)
        if greatest:
            self._solver.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def column(self, cost: float, entries: Entries, *, least: float = 0.0) -> int:
        """The number of a new column with entries in rows that there are."""
        rows, values = _arrays(entries)
        self._solver.addCol(cost, least, inf, len(rows), rows, values)
        return int(self._solver.getNumCol()) - 1

    def columns(self, count: int, *, cost: float = 0.0, least: float = 0.0) -> range:
        """New columns without entries that cost so much each."""
        first = int(self._solver.getNumCol())
        for _ in range(count):
            self.column(cost, {}, least=least)
        return range(first, first + count)

    def row(self, most: float, entries: Entries, *, least: float = -inf) -> int:
        """The number of a new row: columns times their entries make no more than so much."""
        columns, values = _arrays(entries)
        self._solver.addRow(least, most, len(columns), columns, values)
        return int(self._solver.getNumRow()) - 1

    def release(self, rows: Iterable[int]) -> None:
        """Rows that hold nothing any more."""
        for row in rows:
            self._solver.changeRowBounds(row, -inf, inf)

    def price(self, column: int, cost: float) -> None:
        """Another cost of a column."""
        self._solver.changeColCost(column, cost)

    def by(self, method: Literal["interior points", "primal simplex"]) -> None:
        """The method from now on, where HiGHS's own choice is not the fastest."""
        simplex = method == "primal simplex"
        self._solver.setOptionValue("solver", "simplex" if simplex else "ipm")
        if simplex:
            self._solver.setOptionValue("simplex_strategy", _PRIMAL)

    def solve(self) -> float:
        """The objective at the optimum.

        Raises:
            UnlimitedError: if there is none, as it has no limit.
            ArithmeticError: if there is none, or the solver has not found it.

        """
        import highspy

        self._solver.run()
        status = self._solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            return float(self._solver.getInfo().objective_function_value)
        unlimited = (
            highspy.HighsModelStatus.kUnbounded,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        )
        failed = UnlimitedError if status in unlimited else ArithmeticError
        raise failed(f"HiGHS: {self._solver.modelStatusToString(status)}")

    @property
    def values(self) -> Floats:
        """Of each column, at the optimum."""
        return np.asarray(self._solver.getSolution().col_value)

    @property
    def prices(self) -> Floats:
        """Of each row, at the optimum: what a unit more of it would add to the objective."""
        return np.asarray(self._solver.getSolution().row_dual)


class Afresh:
    """A program of the least cost that is solved from the beginning (by SciPy)."""

    def __init__(self) -> None:
        """An empty one."""
        self._costs: list[float] = []
        self._bounds: list[tuple[float, float]] = []
        self._equal, self._upper = _Rows(), _Rows()

    def columns(
        self, count: int, *, cost: float = 0.0, least: float = 0.0, most: float = inf
    ) -> range:
        """New columns that cost so much each."""
        first = len(self._costs)
        self._costs += [cost] * count
        self._bounds += [(least, most)] * count
        return range(first, first + count)

    def at_most(self, most: float, entries: Entries) -> None:
        """A new row: columns times their entries make no more than so much."""
        self._upper.add(most, entries)

    def equal(self, to: float, entries: Entries) -> None:
        """A new row: columns times their entries make so much."""
        self._equal.add(to, entries)

    def solve(self) -> Floats:
        """Of each column, at the optimum.

        Raises:
            ArithmeticError: if there is none, or the solver has not found it.

        """
        from scipy.optimize import linprog

        upper, equal = (rows.of(len(self._costs)) for rows in (self._upper, self._equal))
        done = linprog(np.array(self._costs), *upper, *equal, self._bounds)
        if done.x is None:
            raise ArithmeticError(f"linprog: {done.message}")
        return np.asarray(done.x)


class _Rows:
    """Rows of one kind, as a sparse matrix takes them."""

    def __init__(self) -> None:
        self._limits: list[float] = []
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._values: list[float] = []

    def add(self, limit: float, entries: Entries) -> None:
        """A row."""
        self._rows += [len(self._limits)] * len(entries)
        self._columns += entries.keys()
        self._values += entries.values()
        self._limits.append(limit)

    def of(self, columns: int) -> tuple[coo_array, list[float]]:
        """The matrix, and what the rows are limited to."""
        from scipy.sparse import coo_array

        places = (self._rows, self._columns)
        return coo_array((self._values, places), (len(self._limits), columns)), self._limits


def fairest(
    touch: Callable[[int, float], None],
    solve: Callable[[], tuple[Sequence[float], Sequence[float]]],
    first: Iterable[Tangent],
) -> list[float]:
    """The rates at which a sum of utilities, which are logarithms, is largest.

    No utility is above a tangent of its logarithm: by ``touch``, which adds one, the ``first`` and
    then those at the rates that ``solve`` finds, until the utilities that it finds are the
    logarithms of its rates.
    """
    tangents = list(first)
    for _ in range(_ROUNDS):
        for place, at in tangents:
            touch(place, at)
        rates, utilities = solve()
        if max(u - log(rate) for u, rate in zip(utilities, rates, strict=True)) < _NEAR:
            break
        tangents = list(enumerate(rates))
    return [float(rate) for rate in rates]


def _arrays(entries: Entries) -> tuple[NDArray[np.int32], Floats]:
    places = np.fromiter(entries.keys(), dtype=np.int32, count=len(entries))
    return places, np.fromiter(entries.values(), dtype=float, count=len(entries))
