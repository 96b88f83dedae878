"""Multicast over overlays: nothing is lost or doubled, bounds, and the report's experiments run."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sojourn import slotted
from sojourn.engine import simulate
from sojourn.errors import ScenarioError
from sojourn.papers.gnat2021.multicast.bounds import largest
from sojourn.papers.gnat2021.multicast.experiments import EXPERIMENTS, document
from sojourn.papers.gnat2021.overlay.oracle import Arc
from sojourn.papers.gnat2021.slots.models import RUNS
from sojourn.papers.paper import Request
from sojourn.scenario import validated


def _arcs(*ends: str, rate: float = 2.0) -> list[Arc]:
    return [Arc((a, b), rate, 0.0) for a, b in ends]


def test_coding_carries_over_the_butterfly_what_a_cut_allows() -> None:
    butterfly = _arcs("sa", "sb", "ac", "bc", "cd", "ax", "by", "dx", "dy", rate=1.0)
    assert largest(butterfly, [("s", ("x", "y"))]) == pytest.approx(2.0)
    assert largest(butterfly, [("s", ("x",)), ("s", ("y",))]) == pytest.approx(1.0)


def test_the_bound_of_a_stream_is_that_of_the_capacity_command() -> None:
    from fractions import Fraction

    from sojourn import data
    from sojourn.capacity.read import problem as read
    from sojourn.capacity.solve import Options, solve

    problem = read(data.path("experiments/capacity/grid-5x5.toml"))
    solution = solve(problem, Fraction(10_000), Options(count=False))
    arcs = problem.network.arcs
    links = [Arc((str(arc.tail), str(arc.head)), float(arc.capacity), 0.0) for arc in arcs]
    source = str(next(problem.pairs())[0])
    receivers = [str(to) for _, to in problem.pairs()]
    assert largest(links, [(source, receivers)]) == pytest.approx(solution.rate, rel=1e-6)


def _random(seed: int) -> dict[str, Any]:
    """Six overlay nodes in a random network, two groups, each a stream that ends in time."""
    draw = random.Random(seed)
    nodes = [str(node) for node in range(6)]
    pairs = {(nodes[draw.randrange(at)], nodes[at]) for at in range(1, 6)}
    pairs |= {(a, b) for a in nodes for b in nodes if a < b and draw.random() < 0.3}
    flows = []
    for group in "ab":
        source, *receivers = draw.sample(nodes, 4)
        flows.append(
            {
                "label": group,
                "from": source,
                "receivers": receivers,
                "transport": "udp",
                "mss": 1000,
                "start": "1 s",
                "stop": "3 s",
                "traffic": {"kind": "cbr", "rate": "1500 kbit/s", "size": "1000 B"},
                "service": {"group": group},
            }
        )
    link = {"rate": "4 Mbit/s", "delay": "5 ms", "queue": {"kind": "fifo", "limit": "30 kB"}}
    return {
        "duration": "7 s",
        "sample_interval": "1 s",
        "topology": {
            "kind": "graph",
            "nodes": [{"id": node, "kind": "overlay"} for node in nodes],
            "links": [{"id": f"{a}-{b}", "from": a, "to": b} | link for a, b in sorted(pairs)],
        },
        "flows": flows,
    }


@pytest.mark.parametrize("seed", range(4))
def test_every_receiver_gets_every_packet_once(seed: int) -> None:
    found, _ = simulate(validated(_random(seed)).canonical)
    samples = found.flow.samples
    sent = samples["sent_packets"].sum(axis=0)
    assert [count > 0 for count in sent] == [True, False, False] * 2, "receivers send nothing"
    assert [*samples["delivered_packets"].sum(axis=0)] == [*[sent[0]] * 3, *[sent[3]] * 3]
    assert samples["duplicates_received"].sum() == 0


def test_what_waits_for_groups_counts_as_waiting() -> None:
    scenario = _random(0) | {"duration": "3 s"}
    for flow in scenario["flows"]:
        flow["traffic"] |= {"rate": "20 Mbit/s"}
    waiting = simulate(validated(scenario).canonical)[0].tables["node_samples"]
    packets, octets = (waiting[name].max() for name in ("queue_packets", "queue_bytes"))
    assert packets > 1
    assert octets / packets == pytest.approx(1000, rel=0.1)


def test_receivers_join_and_leave() -> None:
    scenario = _random(0)
    stream = scenario["flows"][0]
    receivers = stream.pop("receivers")
    entries = [stream | {"to": to} for to in receivers]
    entries[1] |= {"start": "2 s"}
    entries[2] |= {"stop": "2 s"}
    scenario["flows"] = entries
    found, _ = simulate(validated(scenario).canonical)
    packets = found.flow.samples["delivered_packets"].sum(axis=0)
    assert packets[0] == pytest.approx(packets[1] + packets[2], abs=2)
    assert packets[1] == pytest.approx(packets[0] / 2, rel=0.05)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"count": 2}, "flows.0.count"),
        ({"to": "1"}, "flows.0.to"),
        ({"service": {}}, "flows.0.receivers"),
        ({"service": {"group": "a", "deadline": "1 s"}}, "flows.0.service.deadline"),
    ],
)
def test_what_does_not_go_with_receivers_is_refused(change: dict[str, Any], field: str) -> None:
    scenario = _random(0)
    scenario["flows"][0] |= change
    with pytest.raises(ScenarioError) as raised:
        validated(scenario)
    assert raised.value.field == field


def test_a_shared_tree_brings_everything_to_all() -> None:
    scenario = _random(1)
    for node in scenario["topology"]["nodes"]:
        node |= {"kind": "shared-tree", "rendezvous": "0"}
    found, _ = simulate(validated(scenario).canonical)
    samples = found.flow.samples
    sent = samples["sent_packets"].sum(axis=0)
    delivered = samples["delivered_packets"].sum(axis=0)
    # What is under way when receivers leave does not reach them.
    assert [*delivered[:3]] == pytest.approx([sent[0]] * 3, abs=8)
    assert [*delivered[3:]] == pytest.approx([sent[3]] * 3, abs=8)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.section)
def test_every_run_is_a_scenario(experiment) -> None:  # type: ignore[no-untyped-def]
    for run in experiment.runs:
        assert document(run, Request())["flows"]


def test_models_in_slots_say_what_is_wrong_with_them() -> None:
    with pytest.raises(ScenarioError) as raised:
        slotted.run({"nodes": 2, "links": [{"from": 0, "to": 2, "rate": 1}]})
    assert raised.value.field == "links.0"
    assert len({(run.section, run.name) for run in RUNS}) == len(RUNS)
