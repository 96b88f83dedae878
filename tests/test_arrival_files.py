"""Files of arrivals and of sizes that scenarios name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sojourn import ScenarioError, arrival_files
from sojourn.scenario import load
from sojourn.schema import schema

SCENARIO = """
duration = "1 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s" }

[[arrivals]]
process = { kind = "file", path = "arrivals.csv" }
cca = "reno"
rtt = "20 ms"

[[arrivals]]
load = 0.5
size = { kind = "empirical", path = "sizes.csv" }
cca = "reno"
rtt = "20 ms"
"""


def _process(directory: Path, text: str) -> dict[str, Any]:
    (directory / "arrivals.csv").write_text(text, encoding="utf-8")
    process = {"kind": "file", "path": "arrivals.csv"}
    arrival_files.inline({"arrivals": [{"process": process}]}, directory)
    return process


def _sizes(directory: Path, text: str, key: str = "size") -> dict[str, Any]:
    (directory / "sizes.csv").write_text(text, encoding="utf-8")
    sizes = {"kind": "empirical", "path": "sizes.csv"}
    arrival_files.inline({"arrivals": [{}, {key: sizes}]}, directory)
    return sizes


def test_columns_take_the_place_of_the_path(tmp_path: Path) -> None:
    named = _process(tmp_path, "pair, time,size\n0,0.5,1000\n1,2,30\n")
    assert named == {"kind": "file", "time": [0.5, 2.0], "size": [1000, 30], "pair": [0, 1]}
    bare = _process(tmp_path, "0.5,1000\n\n2,30\n")
    assert bare == {"kind": "file", "time": [0.5, 2.0], "size": [1000, 30]}
    assert _process(tmp_path, "0.25\n") == {"kind": "file", "time": [0.25]}


def test_sizes_are_in_per_cent_or_shares(tmp_path: Path) -> None:
    expected = {"kind": "empirical", "points": [[100, 8.5], [2e6, 100]]}
    assert _sizes(tmp_path, "bytes,cumulative\n100,8.5\n2e6,100\n") == expected
    assert _sizes(tmp_path, "100,0.085\n2e6,1\n", "request") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time\n0\n\nx\n", r"csv, line 4: 'x' is not a time in seconds"),
        ("nan\n", r"line 1: 'nan' is not a time in seconds"),
        (f"{'1' * 50}\n", r"line 1: '1{50}' is not a time in seconds"),
        ("0,10\n1\n", r"csv, line 2: '' is not a whole number of bytes"),
        ("0,1.5\n", r"csv, line 1: '1\.5' is not a whole number of bytes"),
        (
            "when\n0\n",
            r"csv: columns when given; allowed: time, size, pair, of which time required",
        ),
        ("size\n10\n", r"columns size given; .*time required"),
        ("0,10,0,7\n", r"columns time, size, pair, \? given"),
        ("time\n", r"0 rows given; allowed: 1 to 1000000"),
        ("", r"columns none given"),
    ],
)
def test_what_is_no_list_is_refused_by_line(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(ScenarioError, match=rf"^arrivals\.0\.process\.path: .*{expected}"):
        _process(tmp_path, text)


def test_a_file_that_is_missing_or_has_one_column_is_refused(tmp_path: Path) -> None:
    document = {"arrivals": [{"process": {"kind": "file", "path": "none.csv"}}]}
    with pytest.raises(ScenarioError, match=r"none\.csv: cannot be read: No such file"):
        arrival_files.inline(document, tmp_path)
    with pytest.raises(ScenarioError, match=r"arrivals\.1\.size\.path: .*columns bytes given"):
        _sizes(tmp_path, "100\n")


def test_what_a_scenario_names_is_read_beside_it_and_belongs_to_it(tmp_path: Path) -> None:
    (tmp_path / "arrivals.csv").write_text("0,1000\n0.5,20\n", encoding="utf-8")
    (tmp_path / "sizes.csv").write_text("1000,50\n9000,100\n", encoding="utf-8")
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    canonical = load(path).canonical
    listed, sized = canonical["arrivals"]
    assert listed["process"] == {"kind": "file", "time": [0.0, 0.5], "size": [1000, 20]}
    assert sized["size"] == {"kind": "empirical", "points": [[1000.0, 50.0], [9000.0, 100.0]]}
    assert sized["label"] == "arrivals-1"
    assert load(canonical).canonical == canonical
    (tmp_path / "arrivals.csv").write_text("1,10\n0,20\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"^arrivals\.0\.process\.time: arrival 1 before"):
        load(path)


def test_the_schema_allows_paths() -> None:
    tables = json.dumps(schema()["$defs"]["ArrivalsSpec"])
    assert tables.count("A file of comma-separated values") == 3
