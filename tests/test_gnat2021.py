"""``sojourn reproduce gnat2021``: section 2.3 of the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from conftest import Command

pytest.importorskip("graphillion", reason="counts the paths that are compared")


def test_the_table_of_section_2_3_stands_beside_the_published_one(
    sojourn: Command, tmp_path: Path
) -> None:
    done = sojourn("reproduce", "gnat2021", "--out", "out", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 9 * 7
    cells = {(row["row"], row["column"]): row for row in rows}
    for column, published in (("paths_to_a", 27243), ("paths_to_b", 425381)):
        row = cells["deadline=100", column]
        assert row["published"] == published
        assert abs(row["measured"] / published - 1) < 0.1
    total = [row for row in rows if row["column"] == "total_cpu"]
    # Ten times faster, and room for a machine that is busy.
    assert sum(row["measured"] for row in total) < sum(row["published"] for row in total) / 4
    out = tmp_path / "out"
    assert (out / "figures" / "rate-over-deadline-5x5.png").stat().st_size > 5000
    with (out / "tables" / "statements.csv").open() as file:
        found = {row["id"]: row["finding"] for row in csv.DictReader(file)}
    del found["faster"]  # is the machine's as well
    assert set(found.values()) == {"confirmed"}


def test_a_part_of_the_table_can_be_asked_for(sojourn: Command) -> None:
    asked = ("--where", "row=deadline=40", "--where", "column=rate", "--format", "json")
    done = sojourn("reproduce", "gnat2021", *asked)
    assert [row["row"] for row in json.loads(done.stdout)] == ["deadline=40"]
    refused = sojourn("reproduce", "gnat2021", "--set", "seed=3")
    assert refused.returncode == 2
    assert "--set: section 2.3 runs no scenario" in refused.stderr
