"""The measured table of Linux 6.18 and what extends it."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import pytest

from sojourn import data
from sojourn.oracles.linux618 import LINUX618
from sojourn.oracles.linux618.cells import CellRun, cell_runs
from sojourn.oracles.linux618.goals import Verdict
from sojourn.oracles.linux618.kernel import Spread, kernel, live
from sojourn.oracles.linux618.table import APPENDED, COLUMNS, FIRST, present, widen
from sojourn.reproduction.paper import Request
from sojourn.reproduction.reproduce import reproduce
from sojourn.scenario import validated
from tools.live_reference import TABLE, Measurement

SHORT = """
name = "short"
duration = "1 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "5 Mbit/s"
queue = { kind = "fifo", limit = "1.5 bdp" }
reverse_loss = "5 %"
[[flows]]
cca = "reno"
rtt = "20 ms"
count = 2
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "grid.csv"
    path.write_text(f"# what it is\n{','.join(FIRST)}\nreno,8{',1' * 17}\n", encoding="utf-8")
    return path


def short(repetition: int = 0) -> CellRun:
    canonical = validated(tomllib.loads(SHORT)).canonical
    return CellRun("short", json.dumps({"a": "b, c"}), repetition, canonical)


def test_there_are_some_two_hundred_cells_and_chaotic_ones_are_repeated() -> None:
    runs = cell_runs()
    assert len({run.key for run in runs}) == len(runs)
    cells = {run.key[:2] for run in runs}
    assert 200 <= len(cells) <= 250
    for experiment, count in {"many-flows": 5, "ack-loss": 5, "loss": 5, "policers": 1}.items():
        repetitions = {run.repetition for run in runs if run.experiment == experiment}
        assert repetitions == set(range(count))
    last_of_first = max(i for i, run in enumerate(runs) if run.repetition == 0)
    assert {run.key[:2] for run in runs[: last_of_first + 1]} == cells


def test_the_setup_is_told_in_the_columns_of_the_first_half() -> None:
    assert short().setup() == {
        "flows": "reno,reno",
        "rate_mbit": "5",
        "rtt_ms": "20",
        "buffer_packets": 13,  # 1.5 x 5 Mbit/s x 20 ms / 1500 B, rounded up
        "loss": "0",
        "duration_s": "1",
    }


def test_a_table_is_widened_once_and_keeps_what_it_says(table: Path) -> None:
    widen(table)
    first = table.read_text(encoding="utf-8")
    widen(table)
    assert table.read_text(encoding="utf-8") == first
    comment, header, row = first.splitlines()
    assert (comment, header) == ("# what it is", ",".join(COLUMNS))
    assert row == "reno,8" + ",1" * 17 + "," * len(APPENDED)


@pytest.mark.concurrent
@pytest.mark.alone
@pytest.mark.needs("live")
def test_what_is_measured_is_written_and_not_measured_again(table: Path) -> None:
    widen(table)
    measurement = Measurement(table)
    wanted = [short(), short(1)]
    assert measurement.pending(wanted) == wanted
    for _ in range(5):  # a busy machine makes an invalid run, which is not written
        measurement.measure(wanted[:1])
        if present(table):
            break
    assert measurement.pending(wanted) == [wanted[1]]
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))[1:]
    assert [row["flow"] for row in rows] == ["0", "1"]
    assert {row["quality"] for row in rows} == {"valid"}
    assert 1 < sum(float(row["goodput"]) for row in rows) < 4.9
    assert int(rows[0]["ack_drops"]) > 0
    assert all(rows[0][name] for name in ("kernel", "machine", "host", "measured"))


def test_the_first_half_of_the_table_is_there_unchanged() -> None:
    with data.path(TABLE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    first = [row for row in rows if not row["experiment"]]
    assert len(first) == 152
    assert not any(row[name] for row in first for name in APPENDED)
    assert {row["quality"] for row in rows if row["experiment"]} <= {"valid"}
    assert len(kernel()) == 52


def test_later_rows_are_shown_beside_the_simulator(tmp_path: Path) -> None:
    assert len({key[-2:] for key in live()}) == 232
    request = Request(("live",), {"experiment": ["transfers", "buffers"]}, quick=True)
    made = reproduce(LINUX618, request, tmp_path, 2, lambda done, total: None)
    assert {row["experiment"] for row in made.rows} == {"transfers", "buffers"}
    assert {row["replications"] for row in made.rows} == {1}
    found = {row["metric"]: row for row in made.rows if row["experiment"] == "transfers"}
    # 10 kB in one window: a handshake, and what the bottleneck takes to send it.
    assert found["completion_s"]["published"] == pytest.approx(0.085, rel=0.05)
    assert found["completion_s"]["measured"] == pytest.approx(0.085, rel=0.05)
    by_name = {sheet.name: sheet for sheet in made.sheets}
    sheet = by_name["live-transfers"]
    assert sheet.header[3:5] == ["goodput kernel", "goodput sim"]
    assert sheet.rows[0][3] == found["goodput"]["published"]
    findings = {row[0]: row[4] for row in by_name["statements"].rows}
    assert findings == dict.fromkeys(findings, "not run")


def test_a_flow_of_an_experiment_is_held_to_its_range_if_it_was_repeated() -> None:
    repeated = next(key for key, of in live().items() if of["goodput"].runs == 5)
    once = next(key for key, of in live().items() if of["goodput"].runs == 1)
    for key, met in ((repeated, True), (once, False)):
        spread = Spread(10.0, 8.0, 12.0, 5 if met else 1)
        assert Verdict(key, "goodput", spread, 11.9).met == met
    assert not Verdict(once, "goodput", spread, None).met
