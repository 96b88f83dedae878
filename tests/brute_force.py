"""Random networks, and their capacity by brute force: an oracle for the tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import linprog

from sojourn.capacity.network import Problem
from sojourn.capacity.parse import parse
from sojourn.errors import ScenarioError


def drawn(seed: int) -> dict[str, Any]:
    """A small graph with links of one and of two directions, some of them side by side."""
    generator = random.Random(seed)
    nodes = range(generator.randint(3, 6))
    one_way = generator.choice([0.0, 0.5, 1.0])
    links = []
    for _ in range(generator.randint(len(nodes), 10)):
        tail, head = generator.sample(nodes, 2)
        link: dict[str, Any] = {"from": tail, "to": head, "capacity": generator.randint(0, 8)}
        link |= {"latency": generator.choice([0, 1, 1.5, 2, 3.25]), "capacity": link["capacity"]}
        links.append({**link, "directed": generator.random() < one_way})
    sessions = []
    for _ in range(generator.choice([1, 1, 2])):
        chosen = generator.sample(nodes, generator.randint(2, 3))
        weight = generator.choice([1, 2, 0.5])
        sessions.append({"source": chosen[0], "to": chosen[1:], "weight": weight})
    return {"links": links, "sessions": sessions, "deadline": generator.choice([3, 4.5, 6, 9])}


def random_problems(number: int) -> Iterator[Problem]:
    """So many problems whose destinations can be reached at all."""
    found = 0
    for seed in itertools.count():
        try:
            problem = parse(drawn(seed))
        except ScenarioError:  # a destination cannot be reached, or has no link
            continue
        yield problem
        found += 1
        if found == number:
            return


def simple_paths(problem: Problem, source: int, target: int) -> list[tuple[int, ...]]:
    """All paths within the deadline, as arcs, by walking."""
    network, limit = problem.network, problem.network.steps_within(problem.deadline)
    found = []

    def walk(node: int, visited: frozenset[int], arcs: tuple[int, ...], latency: int) -> None:
        if latency > limit:
            return
        if node == target:
            found.append(arcs)
            return
        for index, arc in enumerate(network.arcs):
            if arc.tail == node and arc.head not in visited:
                seen = visited | {arc.head}
                walk(arc.head, seen, (*arcs, index), latency + arc.latency)

    walk(source, frozenset({source}), (), 0)
    return found


def brute_force(problem: Problem, *, routing: bool) -> float:
    """The rate by the linear program over all paths, or all unions of a path per destination."""
    columns: list[tuple[int, int, frozenset[int]]] = []
    demands: list[tuple[int, float]] = []
    for number, session in enumerate(problem.sessions):
        paths = [simple_paths(problem, session.source, node) for node in session.to]
        if not all(paths):
            return 0.0
        if routing:
            choices = [{frozenset(itertools.chain(*c)) for c in itertools.product(*paths)}]
        else:
            choices = [set(map(frozenset, p)) for p in paths]
        for choice in choices:
            columns += [(number, len(demands), arcs) for arcs in choice]
            demands.append((number, session.weight))
    return _maximum(problem, columns, demands)


def _maximum(
    problem: Problem,
    columns: list[tuple[int, int, frozenset[int]]],
    demands: list[tuple[int, float]],
) -> float:
    """Variables: the rate, each session's need of each arc, each column's rate."""
    arcs, sessions = len(problem.network.arcs), len(problem.sessions)
    first = 1 + sessions * arcs
    equal = np.zeros((len(demands), first + len(columns)))
    needs = np.zeros((len(demands), arcs, first + len(columns)))
    capacity = np.zeros((arcs, first + len(columns)))
    for demand, (session, weight) in enumerate(demands):
        equal[demand, 0] = -weight
        for arc in range(arcs):
            needs[demand, arc, 1 + session * arcs + arc] = -1
    for session, arc in itertools.product(range(sessions), range(arcs)):
        capacity[arc, 1 + session * arcs + arc] = 1
    for index, (_, demand, used) in enumerate(columns):
        equal[demand, first + index] = 1
        needs[demand, list(used), first + index] = 1
    above = np.vstack([needs.reshape(-1, first + len(columns)), capacity])
    most = np.concatenate(
        [np.zeros(len(demands) * arcs), [arc.capacity for arc in problem.network.arcs]]
    )
    goal = np.zeros(first + len(columns))
    goal[0] = -1
    done = linprog(goal, A_ub=above, b_ub=most, A_eq=equal, b_eq=np.zeros(len(demands)))
    assert done.status == 0, done.message
    return float(-done.fun)
