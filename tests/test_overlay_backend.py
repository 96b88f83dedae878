"""``--backend overlay``: a scenario's overlay nodes as programs over its links."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sojourn
from captures import blocks, packets
from sojourn import data
from sojourn.backends import overlay, sim
from sojourn.errors import ScenarioError
from sojourn.measured import Measured
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, read, validated
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS
from sojourn_reproductions.gnat2021.overlay.runs import delay, document, goodput

#: The kind of a pcapng block that describes an interface.
_INTERFACE = 1


def triangle(**changes: Any) -> Document:
    """4.7 of the GNAT report, whose flows begin at once and whose outage is short."""
    scenario = read(data.path("experiments/gnat2021/3-node-system.toml"))
    scenario |= {"duration": "2.5 s"} | changes
    scenario["topology"]["links"][0]["outages"][0] |= {"start": "1.5 s", "duration": "500 ms"}
    for flow in scenario["flows"]:
        flow |= {"start": "200 ms", "stop": "2.4 s"}
    return scenario


@pytest.mark.concurrent
@pytest.mark.needs("live")
def test_nodes_give_the_tables_of_the_simulator() -> None:
    """On a busy machine a run may be invalid; packets arrive all the same.

    One flow has no service: it is simulated on the links of the others.
    """
    scenario = triangle(record=["packets", "pcap"])
    plain = {key: value for key, value in scenario["flows"][0].items() if key != "service"}
    scenario["flows"].append(plain)
    simulated, run = sojourn.run(scenario), sojourn.run(scenario, backend="overlay")
    for table, columns in simulated.data.tables.items():
        mine = run.data.tables[table]
        assert list(mine) == list(columns), table
        assert {name: len(mine[name]) for name in mine} == {
            name: len(columns[name]) for name in columns
        }, table
    assert run.data.network == simulated.data.network
    assert (run.origin["backend"], run.origin["repetition"]) == ("overlay", 0)
    assert run.origin["quality"]["tun_drops"] == 0
    samples = run.data.flow.samples
    assert all(samples["delivered_packets"].sum(axis=0) > 0)
    nodes = run.data.tables["node_samples"]
    assert min(sum(nodes["sent_packets"][place::3]) for place in range(3)) > 0
    _assert_recorded_alike(simulated, run)


def _assert_recorded_alike(simulated: Measured, run: Measured) -> None:
    """What nodes send is numbered alike on each link, and the first packets are the same."""
    begins = [_begins(one) for one in (simulated, run)]
    assert begins[0] == begins[1]
    assert len(begins[0]) == 6
    files = [one.record.files["packets.pcapng"] for one in (simulated, run)]
    kinds, others = ([kind for kind, _ in blocks(file)] for file in files)
    assert kinds.count(_INTERFACE) == others.count(_INTERFACE)
    near = kinds.count(_INTERFACE) - 3 * len(begins[0])
    assert all(len(list(packets(files[1], near + 3 * link))) > 0 for link in range(6))


def _begins(run: Measured) -> list[tuple[Any, ...]]:
    """The first packet that goes over each link from a node to another, without its time."""
    rows = run.record.scan("packets").filter(event="enqueue").filter(pl.col("flow") > 1 << 31)
    first = rows.group_by("link", "flow").agg(pl.col("index", "size").first())
    return first.sort("link").collect().rows()


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.needs("live")
def test_goodput_and_delay_are_those_of_the_simulator() -> None:
    """4.7 with its outage; the other experiments are in docs/explanation/nodes.md."""
    [experiment] = [of for of in EXPERIMENTS if of.section == "4.7"]
    [run] = experiment.runs
    scenario = document(experiment, run, Request())
    expected, measured = sim.measure(scenario)[0], overlay.measure(scenario)[0]
    for phase in run.phases:
        for label in ("low UDP", "low TCP", "high TCP"):
            got, wanted = (goodput(label, phase, of) for of in (measured, expected))
            assert got == pytest.approx(wanted, rel=0.05), (phase.name, label)
        late, wanted_late = (delay("low UDP", phase, of) for of in (measured, expected))
        assert late == pytest.approx(wanted_late, rel=0.2), phase.name


def _plain() -> Document:
    scenario = triangle()
    scenario["topology"]["nodes"] = ["1", "2", "3"]
    for flow in scenario["flows"]:
        del flow["service"]
    return scenario


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        (_plain(), r"topology\.nodes: has no overlay node.*kind = \"overlay\""),
        (triangle(record=["cc"]), r"record: cc given.*there are: queue, packets, pcap"),
    ],
    ids=["no overlay node", "record"],
)
def test_what_nodes_by_themselves_lack_is_refused(scenario: Document, told: str) -> None:
    with pytest.raises(ScenarioError, match=told):
        overlay.check(validated(scenario).canonical)
