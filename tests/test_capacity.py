"""``sojourn.capacity`` beside oracles: brute force, minimum cuts, known counts and examples."""

from __future__ import annotations

import random
from fractions import Fraction

import networkx
import numpy as np
import pytest
from click.testing import CliRunner

from brute_force import brute_force, drawn, random_problems, simple_paths
from conftest import ROOT
from sojourn.capacity import diagram, frontier
from sojourn.capacity.diagram import Limits, count_paths, job_of
from sojourn.capacity.draw import first_like, grid
from sojourn.capacity.draw import main as draw
from sojourn.capacity.parse import parse
from sojourn.capacity.solve import Options, solve
from sojourn.errors import ScenarioError

#: It counts the paths that are compared.
pytestmark = pytest.mark.needs("graphillion")
UNCOUNTED = Options(count=False)
ROUTING = Options(routing=True, count=False)
#: Two destinations that both get 2 only if the middle link codes; routing alone gives 1.5.
BUTTERFLY = {
    "directed": True,
    "source": "s",
    "to": ["x", "y"],
    "links": [
        {"from": ends[0], "to": ends[1], "capacity": 1, "latency": 1}
        for ends in ("sa", "sb", "ax", "by", "ac", "bc", "cd", "dx", "dy")
    ],
}


def test_it_finds_what_brute_force_finds() -> None:
    feasible = 0
    for problem in random_problems(200):
        coding = solve(problem, problem.deadline, UNCOUNTED)
        routing = solve(problem, problem.deadline, ROUTING)
        assert coding.rate == pytest.approx(brute_force(problem, routing=False), abs=1e-6)
        assert routing.rate == pytest.approx(brute_force(problem, routing=True), abs=1e-6)
        assert coding.bound == pytest.approx(coding.rate, abs=1e-6)
        assert routing.bound == pytest.approx(routing.rate, abs=1e-6)
        assert coding.rate >= routing.rate - 1e-6
        feasible += coding.rate > 0
    assert feasible > 80


def test_the_diagram_holds_the_paths_that_brute_force_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as where it is built otherwise
    several = 0
    for problem in random_problems(100):
        steps = problem.network.steps_within(problem.deadline)
        for source, target in problem.pairs():
            job = job_of(problem.network, (source, target), steps)
            expected = simple_paths(problem, source, target)
            counted = frontier.paths(job, 1000)
            assert counted["count"] == len(expected)
            links = {frozenset(job["arcs"][edge] for edge in path) for path in counted["listed"]}
            network = problem.network
            assert links == {frozenset(map(network.link, path)) for path in expected}
            several += len(expected) > 1
    assert several > 40


def test_listing_all_paths_or_generating_them_makes_no_difference() -> None:
    for problem in random_problems(8):
        listed = solve(problem, problem.deadline, Options())
        generated = solve(problem, problem.deadline, Options(limits=Limits(listed=0)))
        assert listed.rate == pytest.approx(generated.rate, abs=1e-9)
        assert listed.diagrams.paths.keys() == set(problem.pairs())


@pytest.mark.parametrize("routing", [False, True])
def test_the_solution_keeps_its_promises(routing: bool) -> None:
    for problem in random_problems(60):
        network = problem.network
        solution = solve(problem, problem.deadline, Options(routing, count=False))
        if solution.rate == 0:
            continue
        arrived = dict.fromkeys(
            [(i, node) for i, s in enumerate(problem.sessions) for node in s.to], 0.0
        )
        for used in solution.used:
            for node, path in zip(used.commodity.terminals, used.tree.paths, strict=True):
                arrived[used.commodity.session, node] += used.rate
                ends = [network.arcs[path[0]].tail, *(network.arcs[a].head for a in path)]
                assert len(set(ends)) == len(ends)
                assert ends[-1] == node
                assert [network.arcs[a].tail for a in path] == ends[:-1]
                latency = sum(network.arcs[a].latency for a in path)
                assert latency <= network.steps_within(problem.deadline)
        for (session, _), rate in arrived.items():
            weight = problem.sessions[session].weight
            assert rate == pytest.approx(solution.rate * weight, rel=1e-6)
        for arc, load in zip(network.arcs, solution.loads, strict=True):
            assert load <= arc.capacity + 1e-6


def test_a_longer_deadline_never_lowers_the_rate_and_the_minimum_cut_ends_it() -> None:
    for seed in range(6):
        problem = grid(4, 4, seed)
        rates = [solve(problem, Fraction(d), UNCOUNTED).rate for d in range(0, 161, 20)]
        assert rates == sorted(rates)
        graph = networkx.DiGraph()
        for arc in problem.network.arcs:
            graph.add_edge(arc.tail, arc.head, capacity=arc.capacity)
        source, to = problem.sessions[0].source, problem.sessions[0].to
        cut = min(networkx.minimum_cut_value(graph, source, node) for node in to)
        assert rates[-1] == pytest.approx(cut)
        assert solve(problem, None, UNCOUNTED).rate == pytest.approx(cut)


def test_coding_beats_routing_on_the_butterfly() -> None:
    problem = parse(BUTTERFLY)
    assert solve(problem, None, UNCOUNTED).rate == pytest.approx(2)
    assert solve(problem, None, ROUTING).rate == pytest.approx(1.5)
    # The coded path takes 4; without it each destination has its own.
    assert solve(problem, Fraction(3), UNCOUNTED).rate == pytest.approx(1)


def test_names_and_order_do_not_matter() -> None:
    for seed in range(40):
        document = drawn(seed)
        names = {node: f"node {node}" for node in range(6)}
        links = [
            {**link, "from": names[link["from"]], "to": names[link["to"]]}
            for link in document["links"]
        ]
        random.Random(seed).shuffle(links)
        sessions = [
            {**s, "source": names[s["source"]], "to": [names[n] for n in s["to"]]}
            for s in document["sessions"]
        ]
        try:
            problem = parse(document)
        except ScenarioError:
            continue
        renamed = parse({**document, "links": links, "sessions": sessions})
        for options in (UNCOUNTED, ROUTING):
            rate = solve(problem, problem.deadline, options).rate
            assert solve(renamed, renamed.deadline, options).rate == pytest.approx(rate)


@pytest.mark.parametrize(("size", "paths"), [(5, 8512), (8, 789360053252), (9, 3266598486981642)])
def test_paths_between_the_corners_of_a_grid_are_as_many_as_is_known(size: int, paths: int) -> None:
    """OEIS A007764; the report calls the last one 3 quadrillion."""
    network = grid(size, size, 0).network
    pair = (0, size * size - 1)
    counted = count_paths(network, [pair], float("inf"), Limits(seconds=60))
    assert counted.paths[pair].count == paths
    assert counted.paths[pair].listed is None


def test_a_shuffled_file_has_no_larger_diagram() -> None:
    network = grid(7, 7, 0).network
    edges = [(arc.tail, arc.head) for arc in network.arcs[::2]]
    random.Random(1).shuffle(edges)
    links = [{"from": a, "to": b, "capacity": 1, "latency": 1} for a, b in edges]
    problem = parse({"links": links, "source": 0, "to": 48})
    pair = next(problem.pairs())
    counted = count_paths(problem.network, [pair], float("inf"), Limits(seconds=60))
    assert counted.paths[pair].count == 575780564


@pytest.mark.concurrent
def test_a_diagram_that_does_not_fit_leaves_the_solution_as_it_is() -> None:
    problem = grid(7, 7, 0)
    deadline = Fraction(60)
    small = solve(problem, deadline, Options(limits=Limits(memory=20_000_000)))
    assert small.diagrams.failure == "the diagram of the paths does not fit in 20 MB"
    late = solve(problem, deadline, Options(limits=Limits(seconds=0.01)))
    assert late.diagrams.failure == "the diagram of the paths does not fit in 0.01 s"
    assert small.rate == late.rate == pytest.approx(solve(problem, deadline, Options()).rate)


def test_without_graphillion_only_the_count_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "find_spec", lambda name: None)
    solution = solve(grid(4, 4, 1), Fraction(60), Options())
    assert solution.rate == solve(grid(4, 4, 1), Fraction(60), UNCOUNTED).rate > 0
    assert solution.note is not None
    assert "graphillion, which counts paths, is not installed" in solution.note


def test_the_bound_holds_when_the_search_is_cut_short() -> None:
    problem = grid(8, 8, 4)
    optimum = solve(problem, Fraction(90), UNCOUNTED)
    assert optimum.gap == pytest.approx(0, abs=1e-6)
    cut = solve(problem, Fraction(90), Options(count=False, seconds=0))
    assert cut.rate < optimum.rate <= cut.bound < np.inf
    assert cut.gap == pytest.approx(1 - cut.rate / cut.bound)


@pytest.mark.parametrize(("size", "seed"), [(8, 373), (12, 1)])
def test_the_experiments_are_as_they_were_drawn(size: int, seed: int) -> None:
    drawn_again = CliRunner().invoke(draw, [str(size), str(size), "--seed", str(seed)])
    name = f"grid-{size}x{size}.toml"
    assert drawn_again.output == (ROOT / "experiments" / "capacity" / name).read_text()


def test_a_grid_is_drawn_until_it_is_like_another() -> None:
    seed, problem = first_like(4, 4, [36, 24], 40)
    counted = count_paths(problem.network, list(problem.pairs()), 40, Limits())
    counts = sorted(paths.count for paths in counted.paths.values())
    assert counts[0] == pytest.approx(24, rel=0.1)
    assert counts[1] == pytest.approx(36, rel=0.1)
    assert problem == grid(4, 4, seed)


def test_a_grid_of_12_by_12_is_solved_in_a_minute() -> None:
    solution = solve(grid(12, 12, 1), Fraction(120), UNCOUNTED)
    assert solution.rate > 0
    assert solution.bound < solution.rate / 0.99
    assert solution.seconds < 60
