"""The linear program over columns: the trees (or paths) that carry the sessions' traffic.

Maximise r so that the columns of every commodity (a session's destination, or without coding the
session with all of its destinations) carry r times the session's weight together. On every arc a
session needs what its greediest commodity does, because network coding lets its destinations
share; the sessions' needs add up to no more than the capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from sojourn.capacity.network import Network, Session
from sojourn.capacity.program import Floats, Growing, UnlimitedError
from sojourn.capacity.tree import Tree
from sojourn.errors import ScenarioError

#: What follows these digits of a solution is rounding.
_DIGITS = 12
#: Smaller capacities, as a share of the largest, are priced alike at first.
_LEAST = 1e-3


@dataclass(frozen=True)
class Commodity:
    """What columns carry: the traffic of a session to some of its destinations."""

    session: int
    terminals: tuple[int, ...]


def commodities(sessions: Sequence[Session], *, routing: bool) -> list[Commodity]:
    """One per destination; with routing alone one per session, as copies are of whole packets."""
    if routing:
        return [Commodity(index, tuple(session.to)) for index, session in enumerate(sessions)]
    return [Commodity(index, (node,)) for index, s in enumerate(sessions) for node in s.to]


class Master:
    """The linear program, to which columns are added as they are found."""

    def __init__(
        self, network: Network, sessions: Sequence[Session], of: Sequence[Commodity]
    ) -> None:
        """A program without columns, whose rate is zero."""
        self.columns: list[tuple[int, Tree]] = []
        capacities = np.array([arc.capacity for arc in network.arcs])
        #: The program's unit of rate: its tolerances are absolute.
        self._unit = capacities[np.isfinite(capacities)].max(initial=0.0) or 1.0
        self._capacities = capacities / self._unit
        self._known: set[tuple[int, frozenset[int]]] = set()
        self._sessions = np.array([commodity.session for commodity in of])
        self._weights = np.array([sessions[commodity.session].weight for commodity in of])
        self._program = Growing(greatest=True)
        self._add_rows()
        self._add_shared()

    def _add_rows(self) -> None:
        """Rows without entries: demands, then needs of each commodity, then capacities."""
        needs = len(self._sessions) * len(self._capacities)
        bounds = [(0.0, 0.0)] * len(self._sessions) + [(-inf, 0.0)] * needs
        for low, high in [*bounds, *((-inf, c) for c in self._capacities)]:
            self._program.row(high, {}, least=low)

    def _add_shared(self) -> None:
        """The rate, and what each session sends over each arc."""
        self._program.column(1.0, {row: -float(weight) for row, weight in enumerate(self._weights)})
        capacity_rows = len(self._sessions) * (1 + len(self._capacities))
        for session in np.unique(self._sessions):
            mine = np.flatnonzero(self._sessions == session).tolist()
            for arc in range(len(self._capacities)):
                needs = {self._need(commodity, arc): -1.0 for commodity in mine}
                last = self._program.column(0.0, {**needs, capacity_rows + arc: 1.0})
        #: The first of the trees' columns.
        self._first = last + 1

    def _need(self, commodity: int, arc: int) -> int:
        return len(self._sessions) + commodity * len(self._capacities) + arc

    def new(self, commodity: int, tree: Tree) -> bool:
        """Whether there is no such column yet."""
        return (commodity, tree.arcs) not in self._known

    def add(self, commodity: int, tree: Tree) -> None:
        """Adds a column, if it is new."""
        if self.new(commodity, tree):
            self._known.add((commodity, tree.arcs))
            self.columns.append((commodity, tree))
            rows = [commodity, *(self._need(commodity, arc) for arc in tree.arcs)]
            self._program.column(0.0, dict.fromkeys(rows, 1.0))

    def solve(self) -> float:
        """The best rate with the columns that there are."""
        try:
            rate = self._program.solve()
        except UnlimitedError:
            without = "the rate has no limit: some path is of links without a rate"
            raise ScenarioError(without) from None
        return float(np.round(rate, _DIGITS) * self._unit)

    def rates(self) -> Floats:
        """The rate of each column."""
        values = self._program.values
        return np.maximum(np.round(values[self._first :], _DIGITS), 0.0) * self._unit

    def loads(self) -> Floats:
        """What the columns put on each arc, shared as the program allows."""
        needs = np.zeros((len(self._sessions), len(self._capacities)))
        for (commodity, tree), rate in zip(self.columns, self.rates(), strict=True):
            needs[commodity, list(tree.arcs)] += rate
        return self._by_session(np.max, needs).sum(axis=0)

    def first_prices(self) -> Floats:
        """Prices before there is a solution: what is scarce is dear."""
        prices = 1 / np.maximum(self._capacities, _LEAST)
        return np.tile(prices, (len(self._sessions), 1))

    def prices(self) -> Floats:
        """What a unit of rate on each arc (columns) costs each commodity (rows)."""
        duals = self._program.prices
        first, last = self._need(0, 0), self._need(len(self._sessions), 0)
        return np.maximum(duals[first:last].reshape(len(self._sessions), -1), 0.0)

    def bound(self, prices: Floats, costs: Sequence[float]) -> float:
        """No scheme's rate is above this, for any prices and each commodity's cheapest tree.

        Weak duality, the prices scaled so that a unit of rate costs one.
        """
        cost = float(self._weights @ costs)
        if cost <= 0:
            return inf
        dearest = self._by_session(np.sum, prices).max(axis=0)
        paid = dearest > 0
        return float(self._capacities[paid] @ dearest[paid]) / cost * self._unit

    def _by_session(self, combine: Callable[..., Floats], values: Floats) -> Floats:
        """Combines the rows of the commodities of each session."""
        sessions = np.unique(self._sessions)
        return np.stack([combine(values[self._sessions == s], axis=0) for s in sessions])
