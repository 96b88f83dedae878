"""Multicast over overlays: nothing is lost or doubled, what is best, and experiments run."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sojourn import slotted
from sojourn.engine import simulate
from sojourn.errors import ScenarioError
from sojourn.reproduction.paper import Request
from sojourn.scenario import validated
from sojourn_reproductions.gnat2021.multicast.best import Best, Stream, best, best_of, streams
from sojourn_reproductions.gnat2021.multicast.experiments import EXPERIMENTS, document
from sojourn_reproductions.gnat2021.overlay.oracle import arcs
from sojourn_reproductions.gnat2021.overlay.polytope import Arc
from sojourn_reproductions.gnat2021.slots.models import RUNS


def _arcs(*ends: str, rate: float = 2.0) -> list[Arc]:
    return [Arc((a, b), rate, 0.0) for a, b in ends]


def test_coding_carries_over_the_butterfly_what_a_cut_allows() -> None:
    butterfly = _arcs("sa", "sb", "ac", "bc", "cd", "ax", "by", "dx", "dy", rate=1.0)
    assert best(butterfly, [Stream("s", ("x", "y"))]).common == pytest.approx(2.0)
    alone = [Stream("s", ("x",)), Stream("s", ("y",))]
    assert best(butterfly, alone).common == pytest.approx(1.0)


def test_a_stream_that_takes_room_on_two_links_has_half_at_the_utility_maximum() -> None:
    """Of links of 1: twice its rate and the other's are 2, the sum of logarithms largest at 1:2."""
    links = [*_arcs("sx", "sy", rate=1.0), *_arcs("xt", "yt", rate=9.0)]
    both, one = Stream("s", ("x", "y")), Stream("s", ("t",))
    found = best(links, [both, one])
    assert found.common == pytest.approx(2 / 3)
    assert found.each == pytest.approx([1 / 2, 1], rel=1e-3)
    assert best(links, [both._replace(priority=2.0), one]).each == pytest.approx([2 / 3] * 2)
    # Two alike share what one of twice the priority has.
    assert best(links, [both, both, one]).each == pytest.approx([1 / 3, 1 / 3, 2 / 3], rel=1e-3)
    small = best(links, [both, one._replace(most=0.2, weight=2.0)])
    assert small.each == pytest.approx([0.8, 0.2], rel=1e-3)


def test_streams_without_a_way_have_nothing() -> None:
    assert best(_arcs("sx"), [Stream("s", ("x",)), Stream("x", ("s",))]).common == 0.0


@pytest.mark.parametrize("at", [22, 43, 53, 63])
def test_equal_rates_are_not_the_utility_maximum_of_the_five_groups(at: int) -> None:
    """Section 4.3: the streams from 7 and 9 have only one of nodes 6 and 7 to go to."""
    scenario = document(next(e for e in EXPERIMENTS if e.section == "4.3").runs[0], Request())
    sent = streams(scenario)
    expected = {"0": 0.8, "5": 0.8, "7": 1.6, "8": 0.8, "9": 1.6}

    def shares(found: Best) -> dict[str, float]:
        return {label: rate / found.common for label, rate in zip(sent, found.each, strict=True)}

    alone = [stream._replace(acknowledged=0.0) for stream in sent.values()]
    assert shares(best(arcs(scenario, at), alone)) == pytest.approx(expected, rel=1e-3)
    # Acknowledgments, of which the streams' ways have more and less, shift them by up to 4.8 %.
    assert shares(best_of(scenario, at)) == pytest.approx(expected, rel=0.05)


def test_the_best_rate_of_one_stream_is_that_of_the_capacity_command() -> None:
    from fractions import Fraction

    from sojourn import data
    from sojourn.capacity.read import problem as read
    from sojourn.capacity.solve import Options, solve

    problem = read(data.path("experiments/capacity/grid-5x5.toml"))
    solution = solve(problem, Fraction(10_000), Options(count=False))
    arcs = problem.network.arcs
    links = [Arc((str(arc.tail), str(arc.head)), float(arc.capacity), 0.0) for arc in arcs]
    source = str(next(problem.pairs())[0])
    receivers = tuple(str(to) for _, to in problem.pairs())
    found = best(links, [Stream(source, receivers)])
    assert [found.common, *found.each] == pytest.approx([solution.rate] * 2, rel=1e-6)


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
