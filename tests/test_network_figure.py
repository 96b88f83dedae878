"""The picture of a network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sojourn
from sojourn import data
from sojourn.figures import chart, figures_of, page
from sojourn.figures.paper import render
from sojourn.scenario import read
from sojourn.store import run_directory

EXPERIMENT = data.path("experiments/gnat2021/3-node-system.toml")


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    """Overlay nodes in a triangle, before and during the outage of a link."""
    document = read(EXPERIMENT)
    document["topology"]["links"][0]["outages"][0]["start"] = "12 s"
    for flow in document["flows"]:
        del flow["stop"]
    return sojourn.run(document | {"duration": "14 s"})


def test_it_has_the_loads_of_links_and_the_queues_of_nodes(result: sojourn.Result) -> None:
    graph = chart("network", result).panels[0].graph
    assert graph is not None
    assert graph.names == ["1", "2", "3"]
    assert graph.arc_names[:2] == ["1-2", "1-2_reverse"]
    times, loads = np.asarray(graph.times), np.asarray(graph.loads)
    assert times[-1] == 14.0
    during = loads[times == 12.0][0]
    assert during[[0, 2, 4]] == pytest.approx(1.0, abs=0.02)
    assert loads[-1][0] < 0.001
    waiting = np.asarray(graph.waiting)
    assert waiting[-1][0] > 10 > waiting[-1][1]


def test_the_load_is_a_share_of_the_rate_that_a_link_has_then() -> None:
    document = read(EXPERIMENT)
    slower = {"kind": "steps", "steps": [{"at": "12 s", "value": "5 Mbit/s"}]}
    document["topology"]["links"][0] |= {"outages": [], "rate_schedule": slower}
    for flow in document["flows"]:
        del flow["stop"]
    graph = chart("network", sojourn.run(document | {"duration": "14 s"})).panels[0].graph
    assert graph is not None
    assert np.asarray(graph.loads)[-1][0] == pytest.approx(1.0, abs=0.02)


def test_the_page_moves_through_time(result: sojourn.Result) -> None:
    drawn = page.render(chart("network", result))
    json.dumps(drawn, allow_nan=False)
    (slider,) = drawn["layout"]["sliders"]
    changes, traces = slider["steps"][slider["active"]]["args"]
    for place, trace in enumerate(traces):
        assert changes["customdata"][place] == drawn["data"][trace]["customdata"]
    maps = page.render(chart("network_over_time", result))
    assert {trace["coloraxis"] for trace in maps["data"]} == {"coloraxis", "coloraxis2"}


def test_it_is_the_same_once_stored(result: sojourn.Result, tmp_path: Path) -> None:
    run_directory.save(result, tmp_path)
    again = run_directory.load(tmp_path)
    first, second = (chart("network", run).panels[0].graph for run in (result, again))
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(first.waiting, second.waiting)


def test_paper_shows_every_arc_and_node(result: sojourn.Result) -> None:
    texts = {text.get_text() for text in render(chart("network", result)).axes[0].texts}
    assert {"2", "3"} <= texts
    assert sum("%" in text for text in texts) >= 3


def test_a_dumbbell_is_no_network() -> None:
    bottleneck = {"rate": "10 Mbit/s", "delay": "10 ms"}
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    alone = sojourn.run({"duration": "1 s", "topology": topology, "flows": [{"cca": "reno"}]})
    assert "network" not in figures_of(alone)
