"""Replications until an interval is narrow enough."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sojourn as package
from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.figures.plots.request import Request, chart
from sojourn.scenario import load
from sojourn.statistics import Until, stopping
from sojourn.sweeps.expand import plan

RULE = '{ until = "10 %", of = "mean_throughput_l4", min = 5, max = 12 }'
SCENARIO = TWO_FLOWS.replace("[[flows]]", 'loss = "0.5 %"\n\n[[flows]]', 1)
SWEEP = f"""{SCENARIO}
[sweep]
replications = {RULE}
[sweep.grid]
"topology.bottleneck.rate" = ["1 Mbit/s", "8 Mbit/s"]
"""
METRIC = pl.col("metric") == "mean_throughput_l4"
UNTIL = Until(0.1, "mean_throughput_l4", 5, 12)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> package.Sweep:
    return package.sweep(SWEEP, directory=tmp_path_factory.mktemp("until"))


def test_each_point_has_as_many_as_its_pilot_asks_for(stored: package.Sweep) -> None:
    flows = stored.runs.filter(pl.col("scope") == "flow")
    counts = {}
    for (rate,), runs in flows.group_by("topology.bottleneck.rate"):
        pilots = runs.filter(pl.col("replication") < 5).partition_by("id")
        asked = max(UNTIL.needed(pilot["mean_throughput_l4"]) for pilot in pilots)
        assert sorted(set(runs["replication"])) == list(range(asked))
        counts[rate] = asked
    assert len(set(counts.values())) == 2  # the rule tells points apart


def test_the_interval_is_the_rules_own(stored: package.Sweep) -> None:
    for row in stored.summary.filter(METRIC & (pl.col("scope") == "flow")).iter_rows(named=True):
        rate = pl.col("topology.bottleneck.rate") == row["topology.bottleneck.rate"]
        member = (pl.col("scope") == "flow") & (pl.col("id") == row["id"])
        values = stored.runs.filter(rate & member).sort("replication")["mean_throughput_l4"]
        found = stopping.interval(values, 5)
        assert found is not None
        assert row["ci95"] == pytest.approx((found.high - found.low) / 2)
        if row["n"] < 12:
            assert row["ci95"] <= 0.1 * values[:5].mean()


def test_a_figure_and_a_comparison_have_the_interval_of_the_summary(
    stored: package.Sweep,
) -> None:
    axis = "topology.bottleneck.rate"
    request = Request("mean_throughput_l4", axis, "flow")
    (panel,) = chart(stored.directory, request).panels
    means = stored.summary.filter(METRIC & (pl.col("scope") == "flow"))
    for line, identity in zip(panel.lines, ("0", "1"), strict=True):
        of_flow = means.filter(pl.col("id") == identity)
        assert np.asarray(line.error) == pytest.approx(of_flow["ci95"].to_numpy())
    same = package.compare(stored, stored).table
    assert set(same["verdict"]) == {"same"}


def test_a_comparison_allows_for_the_stopping(stored: package.Sweep, tmp_path: Path) -> None:
    other = package.sweep(
        SWEEP.replace("[sweep]", '[sweep]\nstart_jitter = "2 ms"', 1),
        directory=tmp_path / "other",
    )
    row = package.compare(other, stored, names=["mean_throughput_l4"]).table.row(0, named=True)
    rate = pl.col("topology.bottleneck.rate") == row["point"].partition(" = ")[2]
    flow = rate & (pl.col("scope") == "flow") & (pl.col("id") == row["id"])
    a, b = (
        s.runs.filter(flow).sort("replication")["mean_throughput_l4"].to_numpy()
        for s in (other, stored)
    )
    common = min(len(a), len(b))
    found = stopping.interval(a[:common] - b[:common], 5)
    assert found is not None
    assert row["paired"]
    assert (row["low"], row["high"]) == pytest.approx(tuple(found))


def test_what_is_stored_is_not_run_again(called: Command, stored: package.Sweep) -> None:
    file = stored.directory.parent / "sweep.toml"
    file.write_text(SWEEP)
    again = called("sweep", file, "--out", stored.directory)
    assert again.returncode == 0, again.stderr
    runs = stored.runs["key"].n_unique()
    assert f"{runs} runs: 0 run now, {runs} stored before, 0 failed" in again.stderr


def test_a_sweep_that_was_broken_off_ends_the_same(stored: package.Sweep, tmp_path: Path) -> None:
    first = SWEEP.replace(RULE, "3")
    package.sweep(first, directory=tmp_path / "resumed")
    resumed = package.sweep(SWEEP, directory=tmp_path / "resumed")
    assert_frame_equal(resumed.summary, stored.summary)


def test_shards_and_merging_are_refused(
    called: Command, stored: package.Sweep, tmp_path: Path
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    part = called("sweep", file, "--shard", "1/2")
    assert part.returncode == 2
    assert "--shard: how many replications a point needs follows from the results" in part.stderr
    merged = called("merge", stored.directory, "--out", "merged")
    assert merged.returncode == 2
    assert "nothing to merge" in merged.stderr


def test_a_dry_run_says_that_more_may_follow(called: Command, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    told = called("sweep", file, "--dry-run")
    assert told.returncode == 0, told.stderr
    assert "10 runs: none stored yet, 10 to run" in told.stdout
    assert "the first 5 runs at each of 2 points" in told.stdout


def test_identical_replications_are_not_continued(tmp_path: Path) -> None:
    same = SWEEP.replace("[sweep]", '[sweep]\nstart_jitter = "0 s"').replace('loss = "0.5 %"', "")
    made = package.sweep(same, directory=tmp_path)
    assert set(made.summary["n"]) == {5}
    assert made.summary["ci95"].null_count() == len(made.summary)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ('{ until = "5", of = "mean_srtt_l4" }', "sweep.replications.until: '5' given"),
        ('{ of = "mean_srtt_l4" }', "sweep.replications.until: None given"),
        ('{ until = "5 %" }', "sweep.replications.of: missing"),
        ('{ until = "5 %", of = "srt" }', "sweep.replications.of: unknown metric 'srt'"),
        ('{ until = "5 %", of = "mean_srtt_l4", min = 1 }', "sweep.replications.min: 1 given"),
        (
            '{ until = "5 %", of = "mean_srtt_l4", max = 2 }',
            "sweep.replications.max: 2 given; expected a whole number from 5",
        ),
        ('{ untill = "5 %" }', "sweep.replications.untill: unknown key"),
        ('"5"', "sweep.replications: '5' given; expected a whole number from 1, or {"),
    ],
)
def test_bad_rules(rule: str, told: str) -> None:
    with pytest.raises(ScenarioError) as error:
        plan(load(SWEEP.replace(RULE, rule)))
    assert told in str(error.value)


def test_the_rule_is_in_the_manifest(stored: package.Sweep) -> None:
    content = json.loads((stored.directory / "manifest.json").read_text())
    assert content["until"] == {"width": 0.1, "of": "mean_throughput_l4", "least": 5, "most": 12}
