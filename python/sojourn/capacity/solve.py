"""The greatest rate, by column generation: paths are priced until none would help.

If the paths are few, all of them are columns from the start and pricing only confirms the optimum.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sojourn.capacity.diagram import Diagrams, Limits, count_paths
from sojourn.capacity.master import Commodity, Master, commodities
from sojourn.capacity.network import Problem, told
from sojourn.capacity.program import Floats
from sojourn.capacity.tree import Search, Tree
from sojourn.errors import ScenarioError

#: A rate and its bound that differ by no more than this share of the bound are the same.
_SAME = 1e-9
#: What is less than this share of the rate is rounding.
NOTHING = 1e-9


@dataclass(frozen=True)
class Options:
    """How to solve."""

    #: Without network coding: each packet takes one tree.
    routing: bool = False
    #: Whether to count the paths.
    count: bool = True
    limits: Limits = field(default_factory=Limits)
    #: The search for better columns ends after so many seconds.
    seconds: float = 60.0


@dataclass(frozen=True)
class Used:
    """A tree that carries traffic; with coding it is a path to one destination."""

    commodity: Commodity
    tree: Tree
    rate: float


@dataclass(frozen=True)
class Solution:
    """The greatest rate that was found, and how it is achieved."""

    problem: Problem
    deadline: Fraction | None
    routing: bool
    rate: float
    #: No scheme achieves more, with coding or of routing alone as was asked.
    bound: float
    used: Sequence[Used]
    #: On each arc.
    loads: Floats
    diagrams: Diagrams
    #: Of the linear program and its pricing, and altogether.
    program_seconds: float
    seconds: float

    @property
    def gap(self) -> float:
        """How far the rate may be from the optimum, as a share of the bound."""
        return 1 - self.rate / self.bound if self.rate < self.bound else 0.0

    @property
    def note(self) -> str | None:
        """What the reader should know."""
        failure = self.diagrams.failure
        return f"{failure}: paths come from column generation, uncounted" if failure else None


def solve(problem: Problem, deadline: Fraction | None, options: Options) -> Solution:
    """The greatest rate within a deadline, or without one; 0 where a destination is too far."""
    start = time.perf_counter()
    steps = problem.network.steps_within(deadline)
    diagrams = Diagrams()
    if options.count:
        pairs = list(dict.fromkeys(problem.pairs()))
        diagrams = count_paths(problem.network, pairs, steps, options.limits)
    counted = time.perf_counter()
    rate, bound, used, loads = _program(problem, steps, diagrams, options)
    end = time.perf_counter()
    return Solution(
        problem=problem,
        deadline=deadline,
        routing=options.routing,
        rate=rate,
        bound=bound,
        used=used,
        loads=loads,
        diagrams=diagrams,
        program_seconds=end - counted,
        seconds=end - start,
    )


def require_paths(problem: Problem, deadline: Fraction | None) -> None:
    """Refuses a deadline that no path to some destination meets."""
    if deadline is None:
        return
    network, unit = problem.network, problem.units.time
    for source, node in problem.pairs():
        fastest = network.latencies(source)[node]
        if fastest > network.steps_within(deadline):
            ends = f"from {network.names[source]!r} to {network.names[node]!r}"
            raise ScenarioError(
                f"deadline: no path {ends} takes {told(float(deadline), unit)} or less; "
                f"the fastest takes {told(fastest / network.steps, unit)}"
            )


def _program(
    problem: Problem, deadline: float, diagrams: Diagrams, options: Options
) -> tuple[float, float, list[Used], Floats]:
    """Rate, bound, the columns used and the loads."""
    network, sessions = problem.network, problem.sessions
    wanted = commodities(sessions, routing=options.routing)
    sources = [sessions[commodity.session].source for commodity in wanted]
    searches = [
        Search(network, source, commodity.terminals, deadline)
        for source, commodity in zip(sources, wanted, strict=True)
    ]
    if not all(search.reachable for search in searches):
        return 0.0, 0.0, [], np.zeros(len(network.arcs))
    master = Master(network, sessions, wanted)
    if not options.routing:
        for index, commodity in enumerate(wanted):
            paths = diagrams.paths.get((sources[index], commodity.terminals[0]))
            for path in (paths and paths.listed) or ():
                master.add(index, Tree(0.0, (path,)))
    rate, bound = _generate(master, searches, time.perf_counter() + options.seconds)
    used = [
        Used(wanted[index], tree, float(part))
        for (index, tree), part in zip(master.columns, master.rates(), strict=True)
        if part > NOTHING * rate
    ]
    return min(rate, bound), bound, used, master.loads()


def _generate(master: Master, searches: Sequence[Search], until: float) -> tuple[float, float]:
    """Adds columns until the rate meets the bound or the time is over."""
    trees, bound = _priced(master, searches, master.first_prices())
    while True:
        for index, tree in enumerate(trees):
            master.add(index, tree)
        rate = master.solve()
        trees, found = _priced(master, searches, master.prices())
        bound = min(bound, found)
        news = any(master.new(index, tree) for index, tree in enumerate(trees))
        if rate >= (1 - _SAME) * bound or not news or time.perf_counter() > until:
            return rate, bound


def _priced(master: Master, searches: Sequence[Search], prices: Floats) -> tuple[list[Tree], float]:
    """Each commodity's cheapest tree, and the bound that they prove."""
    trees = [s.cheapest(row) for s, row in zip(searches, prices.tolist(), strict=True)]
    return trees, master.bound(prices, [tree.cost for tree in trees])
