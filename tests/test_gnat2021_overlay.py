"""The overlay's experiments: the utility maximum they are held to, and that they run."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from sojourn import data
from sojourn.campaign.finished import Finished, Simulate
from sojourn.engine import simulate
from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import judge
from sojourn.scenario import read, validated
from sojourn_reproductions.gnat2021.overlay import STATEMENTS, cells, runs
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS
from sojourn_reproductions.gnat2021.overlay.oracle import classes, shares
from sojourn_reproductions.gnat2021.overlay.panels import parts
from sojourn_reproductions.gnat2021.overlay.polytope import Arc, Class, best
from sojourn_reproductions.gnat2021.overlay.sets import best_set, best_shares
from sojourn_reproductions.gnat2021.overlay.triage import most_that_fit


def _arcs(*ends: str, delay: float = 0.01) -> list[Arc]:
    """Links of 10 Mbit/s, each in both directions."""
    return [Arc((a, b), 10.0, delay) for a, b in (*ends, *(end[::-1] for end in ends))]


def _flow(label: str, ends: str, priority: float, **other: float) -> Class:
    given = {"count": 20, "offered": inf, "payload": 1e9, "headers": 0.0, "answer": 0.0}
    given |= {"deadline": inf} | other
    return Class(label, ends=(ends[0], ends[1]), priority=priority, **given)  # type: ignore[arg-type]


def test_a_flow_on_the_detour_displaces_two_others() -> None:
    """Section 4.20: 10:1 is expected, 5:1 is the optimum."""
    flows = [_flow("12", "12", 10), _flow("13", "13", 1), _flow("32", "32", 1)]
    found = best(_arcs("12", "13", "32"), flows)
    assert found["12"] / found["13"] == pytest.approx(5, rel=1e-3)
    assert 20 * (found["12"] + found["13"]) == pytest.approx(20, rel=1e-6)


def test_a_saturating_flow_gets_the_minimum_cut_and_a_timed_one_the_fast_path() -> None:
    slow, fast = _arcs("12", delay=0.07), _arcs("13", "32", delay=0.001)
    flows = [_flow("timed", "12", 5, count=1, deadline=0.05), _flow("other", "12", 1, count=1)]
    found = best([*slow, *fast], flows)
    assert found == {"timed": pytest.approx(10, rel=1e-4), "other": pytest.approx(10, rel=1e-4)}


def test_a_flow_gets_no_more_than_it_offers_and_headers_take_their_share() -> None:
    flows = [_flow("small", "12", 9, count=1, offered=1.0), _flow("large", "12", 1, headers=0.25e9)]
    found = best(_arcs("12"), flows)
    assert found == {"small": pytest.approx(1.0), "large": pytest.approx(9 / 1.25 / 20)}


def test_acknowledgments_take_their_share_of_the_other_direction() -> None:
    """10 Mbit/s carry a packet of 1,000 B one way, and as a packet both ways what SLIQ answers."""
    there = _flow("there", "12", 1, count=1, payload=900, headers=100)
    back = _flow("back", "21", 1, count=1, payload=900, headers=100)
    assert best(_arcs("12"), [there])["there"] == pytest.approx(9)
    assert best(_arcs("12"), [there, back])["back"] == pytest.approx(9_000 / 1_037)
    answered = _flow("there", "12", 1, count=1, payload=900, headers=100, answer=114)
    # TCP answers each segment, which SLIQ acknowledges in turn.
    assert best(_arcs("12"), [answered])["there"] == pytest.approx(9_000 / (1_000 + 37), rel=1e-4)
    # The second way has room for answers with SACKs.
    triangle = best(_arcs("12", "13", "32"), [answered])["there"]
    assert triangle == pytest.approx(2 * 9_000 / (1_000 + 37), rel=1e-4)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize("ends", [["12"], ["12", "21"]])
def test_a_link_carries_what_headers_and_acknowledgments_leave(
    transport: str, ends: list[str]
) -> None:
    udp = {"transport": "udp", "mss": 1024}
    udp |= {"traffic": {"kind": "cbr", "rate": "10 Mbit/s", "size": "1024 B"}}
    tcp = {"cca": "cubic", "traffic": {"kind": "greedy"}}
    flows = [
        {"label": end, "from": end[0], "to": end[1], "start": "1 s", "service": {"priority": 1}}
        | (udp if transport == "udp" else tcp)
        for end in ends
    ]
    nodes = [{"id": node, "kind": "overlay"} for node in "12"]
    link = {"id": "link", "from": "1", "to": "2", "rate": "10 Mbit/s", "delay": "10 ms"}
    link |= {"queue": {"kind": "fifo", "limit": "50000 B"}}
    topology = {"kind": "graph", "nodes": nodes, "links": [link]}
    document = {"duration": "21 s", "sample_interval": "1 s", "topology": topology, "flows": flows}
    scenario = validated(document).canonical
    samples = simulate(scenario)[0].flow.samples
    inside = samples.begins >= 5
    goodput = 8e-6 * samples["in_order_bytes"][inside].sum(axis=0) / 16
    optimum = shares(scenario, 10)
    # With traffic both ways ACKs wait in full buffers, and the link is idle 3 % of the time.
    assert goodput == pytest.approx([optimum[end] for end in ends], rel=0.06)


def test_outages_and_rates_hold_at_their_times() -> None:
    experiment = next(e for e in EXPERIMENTS if e.section == "4.7")
    scenario = runs.document(experiment, experiment.runs[0], Request())
    before, outage = (shares(scenario, at)["high TCP"] for at in (15, 25))
    assert 1.9 < before / outage < 2.1


def test_priorities_hold_from_their_times() -> None:
    experiment = next(e for e in EXPERIMENTS if e.section == "4.14")
    scenario = runs.document(experiment, experiment.runs[0], Request())
    priorities = [{flow.priority for flow in classes(scenario, at)} for at in (20, 45, 70, 95)]
    assert priorities == [{1}, {10}, {1}, {20}]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.section)
def test_every_run_is_a_scenario_with_and_without_the_overlay(experiment) -> None:  # type: ignore[no-untyped-def]
    for run in experiment.runs[:2]:
        scenario = runs.document(experiment, run, Request())
        assert any("service" in flow for flow in scenario["flows"])
        assert not any("service" in flow for flow in runs.plain(scenario)["flows"])
        assert all(phase.end <= 500 and phase.begin < phase.end for phase in run.phases)


def test_statements_find_their_rows_and_what_is_to_be_off_is_held_to_a_share_of_its_rate() -> None:
    """Section 4.23 has flows of 125 kbit/s that are off after a change."""
    rows = [
        {
            **cell.keys,
            "published": cell.published,
            "measured": 1.0 if cell.published is None else cell.published,
        }
        for cell in cells(Request())
    ]
    assert [s.id for s, found in judge(STATEMENTS, rows) if found.confirmed is None] == []
    [off] = [s for s in STATEMENTS if s.id == "goodput-4.23"]
    for kbit, held in ((0.0, True), (30.0, True), (35.0, False)):
        for row in rows:
            if row["section"] == "4.23" and row["published"] == 0:
                row["measured"] = 1e-3 * kbit
        assert off.check(rows).confirmed is held


def test_a_section_stands_beside_the_optimum_and_the_shortest_path(
    called: Command, tmp_path: Path
) -> None:
    done = called("reproduce", "gnat2021", "--section", "4.18", "--out", "out", "--format", "json")
    rows = {(row["row"], row["column"]): row["measured"] for row in json.loads(done.stdout)}
    timed = "phase=steady flows=39 ms"
    assert rows[timed, "goodput_mbit"] == pytest.approx(rows[timed, "oracle_mbit"], rel=0.02)
    assert rows[timed, "delay_ms"] < 39
    assert rows[timed, "shortest_path_mbit"] < 4
    assert 0 <= rows[timed, "loss_percent"] < 1
    assert rows["phase=steady flows=no deadline", "shortest_path_loss_percent"] > 50
    assert 0 <= rows[timed, "reordered_percent"] < 50
    assert 0 < rows["phase=steady nodes=all", "signalling_percent"] < 2
    assert (tmp_path / "out" / "figures" / "latency-4.18.png").is_file()
    unknown = called("reproduce", "gnat2021", "--section", "4.99")
    assert unknown.returncode == 2
    assert "--section 4.99: is not reproduced; there are 2.3" in unknown.stderr


def test_figures_are_of_the_runs_that_were_asked_for() -> None:
    experiment = next(e for e in EXPERIMENTS if e.section == "4.26")
    request = Request(overrides=("topology.nodes.0.k=1e11",))
    assert [part.title for part in parts(experiment, request)] == ["configuration", "text"]
    for part in parts(experiment, request):
        assert part.scenario["topology"]["nodes"][0]["k"] == 1e11


def test_many_groups_have_a_panel_for_each_node_where_they_end() -> None:
    experiment = next(e for e in EXPERIMENTS if e.section == "4.10")
    shown = list(parts(experiment, Request()))
    assert [part.title for part in shown] == ["at 1", "at 2", "at 3"]
    assert all(label.endswith(part.node) for part in shown for _, label in part.groups)
    everywhere = next(e for e in EXPERIMENTS if e.section == "4.14")
    colours = {tuple(sorted(part.groups)) for part in parts(everywhere, Request())}
    assert len(colours) == 1


def test_runs_keep_the_columns_that_are_looked_at_alone(tmp_path: Path) -> None:
    """All runs of the chapter are stored."""
    experiment = next(e for e in EXPERIMENTS if e.section == "4.18")
    scenario = runs.document(experiment, experiment.runs[0], Request())
    for flow in scenario["flows"]:
        flow["stop"] = "11 s"
    case = runs.sampled({**scenario, "duration": "11 s"})
    store = Finished(tmp_path, pytest.fail)
    [done] = Simulate.of([case])(case)
    store.add(done)
    store.flush()
    data = Finished(tmp_path, pytest.fail).of([case])[case]
    whole = simulate(case.canonical)[0]
    assert len(data.tables["flow_samples"]) < 10 < len(data.tables["link_samples"])
    for table in ("flow_samples", "link_samples", "node_samples"):
        for name, values in data.tables[table].items():
            assert np.array_equal(values, whole.tables[table][name], equal_nan=True)


def test_a_service_can_be_given_by_port(called: Command, tmp_path: Path) -> None:
    head = """duration = "3 s"
        topology.kind = "graph"
        topology.nodes = [{ id = "1", kind = "overlay" }, { id = "2", kind = "overlay" }]
        topology.links = [{ id = "a", from = "1", to = "2", rate = "4 Mbit/s", delay = "5 ms" }]
        """
    flow = """
        [[flows]]
        from = "1"
        to = "2"
        transport = "udp"
        traffic = { kind = "cbr", rate = "4 Mbit/s", size = "1000 B" }
        """
    by_port = """services = [{ ports = "5000-5009", service = { priority = 5 } }]
        """
    given = {
        "port": head + by_port + flow + "port = 5003",
        "service": head + flow + "service = { priority = 5 }",
    }
    outputs = []
    for name, text in given.items():
        (tmp_path / f"{name}.toml").write_text(text)
        ran = called("run", f"{name}.toml", "--no-figures", "--out", name, "--format", "csv")
        outputs.append(ran.stdout)
    assert outputs[0] == outputs[1] != ""
    (tmp_path / "port.toml").write_text(given["port"].replace("5003", "80"))
    refused = called("run", "port.toml")
    assert refused.returncode == 2
    assert "flows.0.port: 80 given" in refused.stderr


def test_most_inelastic_flows_are_those_of_enumeration() -> None:
    """Elastic flows beside them make a queue of ``K e / rest``, each is worth ``K p / r``."""
    for rate, priority, each, elastic in (
        (5.5, 3, 1.0, 1.0),
        (13.7, 3, 1.0, 1.0),
        (9.1, 5, 0.2, 2),
    ):
        fits = [n for n in range(100) if rate > n * each]
        fits = [n for n in fits if n == 0 or elastic / (rate - n * each) <= priority / each]
        assert most_that_fit(rate, priority, each, elastic) == max(fits)


def test_short_flows_need_no_round_trip_beyond_their_set_up(called: Command) -> None:
    done = called("reproduce", "gnat2021", "--section", "4.12", "--out", "out", "--format", "json")
    rows = {(row["row"], row["column"]): row["measured"] for row in json.loads(done.stdout)}
    two, ten = (rows[f"without GNAT, initial window {n}", "transfer_ms"] for n in (2, 10))
    # Three segments: with a window of two the last one waits for an acknowledgment.
    assert two - ten == pytest.approx(20, abs=1)
    assert rows["GNAT", "setup_ms"] == pytest.approx(20, abs=1)


def test_the_best_set_leaves_out_what_does_not_fit_in_an_outage() -> None:
    """Section 4.22: 20 Mbit/s carry 3, 4 and 5 Mbit/s beside elastic flows, and not 6."""
    experiment = next(e for e in EXPERIMENTS if e.section == "4.22")
    scenario = runs.document(experiment, experiment.runs[0], Request())
    three = {"inelastic 3", "inelastic 4", "inelastic 5"}
    assert best_set(scenario, 45) == three
    assert best_set(scenario, 70) == three | {"inelastic 6"}
    # Three links of 10 Mbit/s, or two, less headers and messages.
    shares = best_shares(scenario, 45)
    assert shares["inelastic 6"] == 0
    assert sum(shares.values()) + shares["elastic"] == pytest.approx(
        2 * 9.9 * 1_024 / (1_024 + 28 + 62), rel=1e-3
    )


def test_packets_that_could_only_go_back_do_unless_ways_avoid_where_they_have_been() -> None:
    """From 4 in time only by 1 and 2; with both behind it a packet goes back to 1, at once."""

    def run(multipath: str) -> tuple[float, float]:
        scenario = read(data.path("experiments/gnat2021/latency-multipath.toml"))
        scenario |= {"duration": "6 s", "flows": scenario["flows"][:1]}
        scenario["flows"][0] |= {"start": "1 s"}
        scenario["flows"][0]["traffic"]["rate"] = "25 Mbit/s"
        for node in scenario["topology"]["nodes"]:
            node["multipath"] = multipath
        ran = simulate(validated(scenario).canonical)[0]
        links = ran.tables["link_samples"]
        # Each link has two directions; the third one's second is from 4 to 1.
        back = np.asarray(links["link"]) == 5
        sent = 8e-6 * float(np.asarray(links["sent_bytes"])[back].sum()) / 5
        return sent, float(ran.flow.samples["delivered_packets"].sum())

    (back, delivered), (avoided, fewer) = (run(kind) for kind in ("source-based", "conditioned"))
    assert back > 3
    assert avoided < 1
    assert fewer > 0.9 * delivered
