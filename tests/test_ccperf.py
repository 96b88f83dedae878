"""The acceptance bounds of the Cubic-friendliness experiment, over its 20 seeds."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Command
from sojourn import data
from sojourn_reproductions.ccperf import split
from sojourn_reproductions.ccperf.goals import STATEMENTS


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ccperf")


@pytest.fixture(scope="module")
def rows(directory: Path) -> dict[tuple[str, str], dict[str, Any]]:
    import subprocess
    import sys

    command = [sys.executable, "-m", "sojourn", "reproduce", "ccperf", "--format", "json"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (directory / "results" / "ccperf" / "comparison.csv").exists()
    return {(row["metric"], row["column"]): row for row in json.loads(done.stdout)}


def test_every_printed_value_is_compared(rows: dict[tuple[str, str], dict[str, Any]]) -> None:
    with data.path("reference/ccperf/experiment_82.csv").open() as file:
        printed = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for line in printed:
        for column in ("flow_1", "flow_2"):
            if line[column]:
                row = rows[line["metric"], column]
                assert row["published"] == float(line[column])
                assert row["scope"] == line["scope"]
                assert row["measured"] is not None
                assert row["replications"] == 20


@pytest.mark.parametrize("goal", [statement.id for statement in STATEMENTS])
def test_goals_are_met(
    rows: dict[tuple[str, str], dict[str, Any]], directory: Path, goal: str
) -> None:
    told = pl.read_csv(directory / "results/ccperf/tables/statements.csv")
    assert told.filter(pl.col("id") == goal)["finding"].item() == "confirmed"


@pytest.mark.parametrize(
    ("low", "high", "confirmed"), [(11.0, 15.0, True), (14.0, 18.0, False), (13.0, 14.0, False)]
)
def test_the_split_is_judged_by_quantiles_of_the_seeds(
    low: float, high: float, confirmed: bool
) -> None:
    ends = {"flow_1": (low, high), "flow_2": (15.0, 19.0)}
    rows = [
        {"metric": metric, "column": column, "published": None, "measured": end}
        for column, both in ends.items()
        for metric, end in zip(split.OF_SEEDS, both, strict=True)
    ]
    rows += [
        {"metric": split.SPLIT, "column": column, "published": printed, "measured": printed}
        for column, printed in (("flow_1", 13.83), ("flow_2", 16.96))
    ]
    assert split.check(rows).confirmed is confirmed
    assert split.of_seeds(float, 1 / 11, *range(12)) == pytest.approx(1.0)


def test_parameters(called: Command, tmp_path: Path) -> None:
    done = called(
        *("reproduce", "ccperf", "--quick", "--set", "k=5", "--set", "cca=vegas"),
        *("--where", "metric=mean_throughput_l4", "--format", "json"),
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert [row["column"] for row in printed] == [f"flow_{n}" for n in range(1, 6)]
    assert all(row["published"] is None for row in printed)
    manifest = tmp_path / "results" / "ccperf" / "example" / "manifest.json"
    flows = json.loads(manifest.read_text())["scenario"]["flows"]
    assert [flow["cca"]["kind"] for flow in flows] == ["vegas"] * 2 + ["cubic"] * 3


def test_the_table_says_the_set_up(called: Command) -> None:
    printed = called("reproduce", "ccperf", "--quick").stdout
    for choice in ('stack = "ns3"', "ack_every = 1", '"2 packets"', "1 Gbit/s", "4 MB"):
        assert choice in printed
