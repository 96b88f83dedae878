"""The authors' files in the place of ours: files of our own stand for theirs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sojourn as package
from conftest import ROOT
from sojourn import ScenarioError
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Request
from tools import sce_authors

TREE = ROOT / "tests" / "kernel" / "sce"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_control_hears_sce_and_what_the_host_remembers() -> None:
    source = str(TREE / "net/ipv4/tcp_reno_sce.c")
    observed = ["echoes", "peer_mss", "remembered"]
    cake = {"kind": "cake", "sce": "sce"}
    result = package.run(
        {
            "duration": "2 s",
            "record": ["cc"],
            "topology": {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s", "queue": cake}},
            "flows": [
                {
                    "cca": {"kind": "linux", "source": source, "observe": observed},
                    "ecn": "sce",
                    "rtt": "20 ms",
                    "initial_ssthresh": 30,
                }
            ],
        }
    )
    named = result.state.group_by("name").agg(pl.col("value").max())
    most = dict(named.iter_rows())
    assert (most["peer_mss"], most["remembered"]) == (536, 30)
    assert most["echoes"] == result.series.flows["esce_acks"].sum() > 0


def test_a_cell_is_run_with_each_file_and_the_first_call_is_named(tmp_path: Path) -> None:
    cells = paper("sce2019").cells(Request(("31",)))
    keys = {"flow": "1", "bandwidth_mbit": "1", "delay_ms": "0"}
    [cell] = [cell for cell in cells if keys.items() <= cell.keys.items()]
    [line], steps = sce_authors.rows([cell], sce_authors.Tree(TREE), tmp_path, 2)
    assert line["published"] == cell.published
    shares = [line[part] for part in ("ours", *sce_authors.PARTS)]
    assert all(0 < share < 1 for share in shares)
    assert shares[0] not in shares[1:]
    assert [step["part"] for step in steps] == ["queue", "flow 0", "flow 1"]
    assert all(step["steps"] >= step["differ"] > 0 for step in steps)
    assert "after an ACK: ours cwnd" in steps[1]["first"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--table", "36"], "nowhere/net/sched/sch_cake.c: is missing"),
        (["nowhere", "--table", "1"], "--table 1: is computed of others"),
        (["nowhere", "--table", "36", "--bandwidth", "3"], "--bandwidth 3: the tables have none"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=message):
        sce_authors.main([*arguments, "--out", str(tmp_path)])
