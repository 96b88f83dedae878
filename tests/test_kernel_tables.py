"""The programs that measure the tables of kernels, with a simulator in the place of the kernel."""

from __future__ import annotations

import csv
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest

from sojourn import data
from sojourn.backends import live, sim
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.oracles.linux612.table import COLUMNS, TABLE
from sojourn.oracles.linux618.cells import CellRun
from sojourn.oracles.linux618.table import COLUMNS as COLUMNS_618
from sojourn.oracles.linux618.table import present
from sojourn.scenario import Document, Scenario
from test_live_reference import short
from tools import compare_live, kernel_reference, live_reference
from tools.kernel_tables import command, do

Row = dict[str, str]
GOOD = {"valid": True, "release_error_ms": {"p99": 0.01}, "longest_gap_ms": 0.1, "cpu_steal": 0.0}


class Kernel:
    """In the place of a kernel; interrupted when it has made so many runs."""

    made: ClassVar[list[Document]] = []
    most = 1000

    def __init__(self, wanted: str = "") -> None:
        self.wanted = wanted

    @property
    def name(self) -> str:
        return f"kernel:{self.wanted}"

    def key(self) -> dict[str, Any]:
        return {"backend": "kernel", "kernel": self.wanted or "6.12.1", "hz": 1000}

    def run(self, scenario: Scenario) -> Measured:
        return Measured(scenario, *self.measure(scenario.canonical), origin=self.key())

    def measure(self, canonical: Document) -> tuple[RunData, dict[str, float]]:
        if len(self.made) == self.most:
            raise KeyboardInterrupt
        self.made.append(canonical)
        return sim.measure(canonical)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> type[Kernel]:
    monkeypatch.setattr(Kernel, "made", [])
    monkeypatch.setattr(kernel_reference, "On", Kernel)
    monkeypatch.setattr(compare_live, "On", Kernel)
    monkeypatch.setattr("sojourn.backends.kernel.On", Kernel)
    return Kernel


def table(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_work_is_done_side_by_side_and_an_interruption_ends_it() -> None:
    together, found = threading.Barrier(2, timeout=10), list[int]()

    def work(item: int) -> int:
        together.wait()
        return 2 * item

    do(range(4), work, found.append, 2)
    assert sorted(found) == [0, 2, 4, 6]

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(range(4), interrupted, found.append, 2)


def test_what_is_wrong_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        command(interrupted)
    assert ended.value.code == 130
    assert "interrupted: the same command goes on from there" in capsys.readouterr().err


def test_the_table_of_6_12_is_continued_where_it_was_left(
    tmp_path: Path, kernel: type[Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / TABLE).parent.mkdir(parents=True)
    runs = kernel_reference.cell_runs(kernel_reference.FOLDER)
    wanted = [run for run in runs if run.experiment == "transfers"][:3]
    monkeypatch.setattr(data, "checkout", lambda: tmp_path)
    monkeypatch.setattr(kernel_reference, "cell_runs", lambda _folder: wanted)
    monkeypatch.setattr(kernel, "most", 2)
    arguments = ["--kernel", "6.12.9", "--jobs", "1"]
    with pytest.raises(KeyboardInterrupt):
        kernel_reference.main(arguments)
    assert len(table(tmp_path / TABLE)) == 2
    monkeypatch.setattr(kernel, "most", 1000)
    assert kernel_reference.main(arguments) == 0
    rows = table(tmp_path / TABLE)
    assert tuple(rows[0]) == COLUMNS
    # As they are done: two that are done by the time that somebody looks come in any order.
    assert sorted(row["changes"] for row in rows) == sorted(run.changes for run in wanted)
    assert {row["kernel"] for row in rows} == {"6.12.9"}
    assert len(kernel.made) == 3
    other = tmp_path / "other.csv"
    assert kernel_reference.main(["--kernel", "6.1.9", "--out", str(other)]) == 0
    assert [row["kernel"] for row in table(other)] == ["6.1.9"] * 3
    assert len(table(tmp_path / TABLE)) == 3


def test_an_invalid_live_run_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, verdicts = tmp_path / "grid.csv", iter([False, True, True])
    path.write_text(f"{','.join(COLUMNS_618)}\n")
    made: list[Scenario] = []

    def run(scenario: Scenario, repetition: int) -> Measured:
        made.append(scenario)
        quality = GOOD | {"valid": next(verdicts), "reasons": ["the processor was busy"]}
        origin = {"host": "here", "kernel": "6.18", "quality": quality}
        return Measured(scenario, *sim.measure(scenario.canonical), origin=origin)

    monkeypatch.setattr(live, "run", run)
    measurement = live_reference.Measurement(path)
    wanted: list[CellRun] = [short(), short(1)]
    assert measurement.all(wanted, 1) == []
    assert present(path) == {run.key for run in wanted}
    assert len(made) == 3


def test_the_comparison_in_virtual_time_goes_on_where_it_was(
    tmp_path: Path, kernel: type[Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "made" / "virtual.csv"
    arguments = ["--cca", "reno", "--duration", "1", "--out", str(out)]
    monkeypatch.setattr(kernel, "most", 4)
    with pytest.raises(KeyboardInterrupt):
        compare_live.main(arguments)
    assert not out.exists()
    monkeypatch.setattr(kernel, "most", 1000)
    assert compare_live.main([*arguments, "--jobs", "2"]) == 0
    rows = table(out)
    assert len(kernel.made) == len(rows) / len(compare_live.COMPARED)
    assert tuple(rows[0]) == compare_live.COLUMNS
    wanted = [setup for setup, _ in compare_live.cells("1") if setup["flows"] == "reno"]
    assert [row["rate_mbit"] for row in rows[::3]] == [setup["rate_mbit"] for setup in wanted]
