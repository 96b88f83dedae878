"""Random scenarios beside a kernel: what is drawn, how it is judged, and what a campaign stores."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import Command
from fake_commands import made
from sojourn.backends.kernel import On
from sojourn.errors import LackError, ScenarioError, SojournError
from sojourn.fidelity import campaign as module
from sojourn.fidelity import draw, table
from sojourn.fidelity.asked import AQMS, Asked
from sojourn.fidelity.campaign import campaign
from sojourn.fidelity.draw import Cell, cells
from sojourn.fidelity.goals import AQMS as BEHIND
from sojourn.fidelity.goals import FIFOS, METRICS, PATHS, TRANSFERS, Goal, goal
from sojourn.fidelity.judge import COLUMNS, Judged, judged
from sojourn.fidelity.parting import parted
from sojourn.scenario import load

CELL = Cell("1-0", ["cubic"], "fifo", 10.0, 40.0, 34, "", [""])


# What is drawn


def test_a_cell_is_the_same_wherever_and_however_often_it_is_drawn() -> None:
    few, many = (list(cells(Asked(count, (1,), queue="fifo"))) for count in (3, 9))
    assert many[:3] == few
    first = few[0]
    drawn = (*first.controls, first.rate_mbit, first.rtt_ms, first.buffer)
    assert drawn == ("vegas", 23.3, 22.1, 129)
    behind = next(iter(cells(Asked(1, (1,), queue="codel"))))
    assert (behind.rate_mbit, behind.rtt_ms, behind.controls) == (23.3, 22.1, ["vegas"])
    twice = next(iter(cells(Asked(1, (1,), queue="codel"), times=2)))
    assert list(twice.starts[: draw.STARTS]) == behind.starts
    assert len(set(twice.starts)) == 2 * draw.STARTS
    assert next(iter(cells(Asked(1, (2,))))) != first


def test_draws_stay_within_their_ranges_and_reach_all_there_is() -> None:
    drawn = list(cells(Asked(400, (1,))))
    assert {one.controls[0] for one in drawn} == set(draw.CONTROLS)
    assert {one.queue for one in drawn} == {"fifo", *AQMS}
    assert 0.6 < sum(one.queue == "fifo" for one in drawn) / len(drawn) < 0.8
    for one in drawn:
        assert draw.RATE_MBIT[0] <= one.rate_mbit <= draw.RATE_MBIT[1]
        assert draw.RTT_MS[0] <= one.rtt_ms <= draw.RTT_MS[1]
        if one.buffer is not None:
            packets = one.rate_mbit * one.rtt_ms / 12
            assert 0.3 * packets <= one.buffer <= max(draw.LEAST, 4 * packets + 1)
            assert one.buffer >= draw.LEAST


@pytest.mark.parametrize(
    ("asked", "starts"),
    [
        (Asked(6, (1,), queue="fifo"), {1}),
        (Asked(6, (1,), queue="aqms"), {5}),
        (Asked(6, (1,), ecn=True), {5}),
        (Asked(6, (1,), flows=2), {10}),
        (Asked(6, (1,), flows=4, queue="pie"), {10}),
        (Asked(6, (1,), "transfer"), {5}),
        (Asked(20, (1,), "path"), {1, 5}),
    ],
    ids=str,
)
def test_every_kind_is_a_scenario_with_starts_of_its_own(asked: Asked, starts: set[int]) -> None:
    asked.check()
    drawn = list(cells(asked))
    assert {len(one.starts) for one in drawn} == starts
    for one in drawn:
        texts = [load(text).canonical for text in one.starts]
        begun = {(text["seed"], *(f["start"] for f in text["flows"])) for text in texts}
        assert len(begun) == len(texts)
        assert all(len(text["flows"]) == asked.flows for text in texts)
        if asked.ecn:
            assert all(f["ecn"] in ("classic", "dctcp") for f in texts[0]["flows"])
    assert asked.kind != "path" or {one.trouble for one in drawn} == set(draw.TROUBLES)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(1, (1,), "transfer", flows=2), "--flows: --kind transfer has one flow over a FIFO"),
        (Asked(1, (1,), "path", queue="codel"), "--queue: --kind path has one flow"),
        (Asked(1, (1,), queue="fifo", ecn=True), "--queue: fifo does not mark"),
    ],
)
def test_what_does_not_go_together_is_refused(asked: Asked, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        asked.check()


# How it is judged


def _runs(metric: str, values: Sequence[float | None], flows: int = 1) -> list[Any]:
    """Made-up outcomes with this metric; all others are the same everywhere."""
    alike = dict.fromkeys(METRICS.values(), 100.0)
    members = [{"metrics": {**alike, METRICS[metric]: value}} for value in values]
    return [{"flows": [member] * flows} for member in members]


def _judged(
    goal: Goal, metric: str, sim: list[Any], kernel: list[Any], cell: Cell = CELL
) -> Judged:
    here = replace(cell, starts=[str(number) for number in range(len(sim))])
    flows = len(cell.controls)
    return judged(here, goal, _runs(metric, sim, flows), _runs(metric, kernel, flows))


@pytest.mark.parametrize(
    ("goal", "metric", "sim", "kernel", "within"),
    [
        (FIFOS, "goodput", [100.9], [100], True),
        (FIFOS, "goodput", [98.9], [100], False),
        (FIFOS, "mean_srtt", [101.9], [100], True),
        (FIFOS, "mean_srtt", [102.1], [100], False),
        (FIFOS, "retrans", [113], [100], True),
        (FIFOS, "retrans", [100], [114], False),
        (FIFOS, "retrans", [0], [3], True),
        (BEHIND, "retrans", [125], [100], True),
        (BEHIND, "retrans", [126], [100], False),
        # Means count, not single starts, nor where they lie in the kernel's range...
        (BEHIND, "goodput", [90, 110], [100, 100], True),
        (BEHIND, "goodput", [105, 105], [90, 110], False),
        # ... unless the path draws, too.
        (PATHS, "goodput", [105, 105], [90, 110], True),
        (PATHS, "goodput", [111, 111], [90, 110], False),
        (TRANSFERS, "completion_s", [1.01, 1.02], [1, 1], True),
        (TRANSFERS, "completion_s", [1.01, 1.04], [1, 1], False),
        # A transfer that ends on one side only misses; one that ends on neither says nothing.
        (TRANSFERS, "completion_s", [1, None], [1, 1], False),
        (TRANSFERS, "completion_s", [None], [None], True),
    ],
)
def test_a_cell_is_within_its_goal(
    goal: Goal, metric: str, sim: list[Any], kernel: list[Any], within: bool
) -> None:
    found = _judged(goal, metric, sim, kernel)
    assert found.is_within is within
    assert found.worst.metric == metric or found.worst.excess == 0
    assert (found.worst.excess == inf) == (metric == "completion_s" and None in sim and not within)


def test_goals_are_those_of_the_kind() -> None:
    behind = replace(CELL, queue="pie")
    alone, pair = Asked(1, (1,)), Asked(1, (1,), flows=2)
    assert (goal(alone, CELL), goal(alone, behind)) == (FIFOS, BEHIND)
    assert goal(pair, behind) == replace(BEHIND, inside=True)
    assert goal(pair, CELL).share == 0.95
    assert not goal(Asked(1, (1,), "path"), replace(CELL, trouble="rate-steps")).inside


def test_ranges_and_the_furthest_start_are_told() -> None:
    found = _judged(BEHIND, "goodput", [100, 101, 103], [110, 103, 103])
    assert found.overlaps is True
    assert found.worst.furthest() == 0
    assert _judged(BEHIND, "goodput", [100, 101], [102, 103]).overlaps is False
    assert _judged(FIFOS, "goodput", [100], [100]).overlaps is None
    assert set(found.worst.row()) == set(COLUMNS)


def test_shares_have_wilsons_interval_and_count_flows_by_their_control() -> None:
    pairs = replace(CELL, controls=["cubic", "reno"], queue="codel")
    of = [_judged(BEHIND, "goodput", [100], [100 if n < 8 else 90], pairs) for n in range(10)]
    rows = {(row["by"], row["name"]): row for row in table.shares(of)}
    assert set(rows) == {("all", ""), ("queue", "codel"), ("cca", "cubic"), ("cca", "reno")}
    every = rows["all", ""]
    # Wilson (1927), as Agresti and Coull (1998) have it for 8 of 10.
    assert (every["low"], every["high"]) == pytest.approx((0.490, 0.943), abs=5e-4)
    assert (every["within"], every["cells"], every["goal"]) == (8, 10, 0.95)
    assert rows["cca", "reno"]["cells"] == 10


def test_only_what_misses_now_is_a_scenario_file(tmp_path: Path) -> None:
    near, far, further = (
        _judged(FIFOS, "goodput", [100], [kernel], replace(CELL, name=f"1-{kernel}"))
        for kernel in (100, 90, 80)
    )
    assert table.worst([near, far, further]) == [further, far]
    table.write([near, far, further], tmp_path)
    table.write([near, far], tmp_path)
    assert [path.name for path in (tmp_path / "worst").iterdir()] == ["1-90.toml"]
    rows = list(csv.DictReader((tmp_path / "cells.csv").open()))
    assert [row["within"] for row in rows if row["metric"] == "goodput"] == ["True", "False"]


# What a campaign stores


def test_an_interrupted_campaign_goes_on_and_grows(
    fake: None, tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(3, (4,), queue="fifo")

    def run(asked: Asked) -> list[Judged]:
        return campaign(asked, "fake", tmp_path / "out", 1, lambda _done, _total: None)

    monkeypatch.setenv("FAKE_MOST", "2")
    with pytest.raises(LackError):
        run(asked)
    assert made(notes) == 2
    monkeypatch.delenv("FAKE_MOST")
    assert all(one.is_within for one in run(asked))
    assert made(notes) == 3
    assert len(run(replace(asked, cells=4))) == 4
    assert made(notes) == 4


def test_a_campaign_as_a_user_types_it(
    faked: Command, tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "reference", lambda: "fake")
    asked = ("fidelity", "--cells", 2, "--seed", 3, "--queue", "fifo", "--out", "out")
    done = faked(*asked)
    assert done.returncode == 0, done.stderr
    assert "Within the goals" in done.stdout
    rows = list(csv.DictReader((tmp_path / "out" / "cells.csv").open()))
    assert [*rows[0]][:7] == ["cell", "cca", "queue", "metric", "sim", "kernel", "within"]
    assert len(rows) == 2 * 3
    assert made(notes) == 2
    more = faked(*asked, "--seed", 5, "--format", "json")
    told = json.loads(more.stdout)
    assert told["shares"][0]["cells"] == 4
    assert told["worst"] == told["partings"] == []
    assert made(notes) == 4
    with pytest.raises(SojournError, match=r"its tables are cells\.csv and partings\.csv"):
        sojourn.open(tmp_path / "out")
    refused = faked("fidelity", "--cells", 2, "--seed", 3, "--out", "out")
    assert refused.returncode == 2
    assert "holds another fidelity campaign: --queue was fifo, here it is drawn" in refused.stderr


def test_without_the_kernel_it_is_said_how_to_build_it(
    called: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = called("fidelity", "--cells", 1, "--seed", 1)
    assert done.returncode == 2
    assert "sojourn kernel build linux-source-6.12 --hz 1000" in done.stderr


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_a_cell_on_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vegas over 23 Mbit/s, and where it parts from the kernel, if at all."""
    monkeypatch.setattr(draw, "_SECONDS", 2)
    beside, asked = On().name, Asked(1, (1,), queue="fifo")
    (found,) = campaign(asked, beside, tmp_path, 1, lambda _done, _total: None)
    assert found.is_within
    fine, coarse = parted(found.cell.starts[0], beside, "", [1e-6, 0.0221])  # type: ignore[misc]
    assert fine is None or coarse is None or fine["time"] <= coarse["time"] <= 2
