"""Congestion controls that bring their own code, and what goes wrong in them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import sojourn as package
from conftest import TWO_FLOWS, Command
from own_controls import AIMD, BAD, FAULTY, MINE, refusal
from sojourn.errors import RunError
from sojourn.executors import processes
from sojourn.scenario import load


def test_a_class_in_a_file_runs_from_anywhere(here: Path, called: Command) -> None:
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    run = called("run", here / "mine.toml", "--no-figures", "--format", "json", cwd=elsewhere)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert [flow["cca"] for flow in told["flows"]] == ["Aimd", "cubic"]
    assert all(flow["metrics"]["mean_throughput_l4"] > 1 for flow in told["flows"])
    assert told["scenario"]["flows"][0]["cca"]["path"] == str(here / "aimd.py")


def test_what_it_observes_is_recorded(here: Path, called: Command) -> None:
    run = called("run", "mine.toml", "--no-figures", "--record", "cc", "--out", "out")
    assert run.returncode == 0, run.stderr
    state = pl.read_parquet(here / "out/state.parquet").filter(pl.col("name") == "credit")
    assert state["component"].unique().to_list() == ["flow.0.cc"]
    assert state["value"].max() > 5


@pytest.mark.concurrent
@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("raise", "Faulty.on_ack: ZeroDivisionError: division by zero"),
        ("nan", "Faulty.decision: cwnd is NaN"),
        ("zero", "Faulty.decision: cwnd is 0; allowed: 1 to 50000000 segments"),
        ("huge", "Faulty.decision: cwnd is 1000000000000; allowed"),
        ("negative", "Faulty.decision: cwnd is -1; allowed: 1 to 50000000 segments"),
        ("past", "Faulty.next_timer: returned a time that is not after 0.2"),
        ("hang", "control of flow 0: on_ack has not returned for 1 s: stopped"),
        ("crash", "control of flow 0: on_ack has ended its process (SIGSEGV)"),
        ("exit", "control of flow 0: on_ack has ended its process (status 3)"),
        ("leak", "Faulty.on_ack: MemoryError"),
    ],
)
def test_whatever_goes_wrong_is_told(here: Path, called: Command, mode: str, told: str) -> None:
    # Memory is not filled within a second where the machine is busy.
    limits = ("--control-timeout", "1" if mode == "hang" else "50", "--control-memory", "500 MB")
    setting = ("--set", f'flows.0.cca.mode="{mode}"')
    run = called("run", "bad.toml", "--no-figures", *setting, *limits)
    assert run.returncode == 1
    assert f", {told}" in run.stderr or f"flow 0: {told}" in run.stderr
    assert "sojourn: at 0.2" in run.stderr
    if mode == "raise":
        assert f"({here / 'faulty.py'}, line" in run.stderr
        assert "_ = 1 / 0" in run.stderr
    assert run.stdout == ""


def test_who_writes_to_all_descriptors_is_stopped(here: Path, called: Command) -> None:
    """In that callback, or after it: by the time that this is noticed it may have gone on."""
    run = called("run", "bad.toml", "--no-figures", "--set", 'flows.0.cca.mode="write"')
    assert run.returncode == 1
    who = r"(at 0\.\d+ s, control of flow 0: \w+|the simulation)"
    assert re.search(f"sojourn: {who} has used descriptors that are not its own", run.stderr)
    assert run.stdout == ""


@pytest.mark.long
def test_a_division_by_zero_in_one_cell_of_a_hundred(here: Path, called: Command) -> None:
    times = [1.0, *(float(at) for at in range(101, 200))]
    text = BAD.replace('"3 s"', '"1.1 s"').replace("8 Mbit/s", "2 Mbit/s")
    (here / "sweep.toml").write_text(f'{text}\n[sweep.grid]\n"flows.0.cca.at" = {times}\n')
    trial = called("sweep", "sweep.toml", "--out", "out", "--dry-run")
    assert "100 runs: none stored yet, 100 to run" in trial.stdout, trial.stderr
    run = called("sweep", "sweep.toml", "--out", "out")
    assert run.returncode == 1
    assert "100 runs: 100 run now, 0 stored before, 1 failed" in run.stderr
    rows = package.open(here / "out").runs
    assert rows.filter(pl.col("scope") == "net")["key"].n_unique() == 99
    failed = rows.filter(pl.col("scope") == "run")
    error = failed["error"].item()
    assert "Faulty.on_ack: ZeroDivisionError: division by zero (" in error
    assert "Traceback" not in error
    assert "_ = 1 / 0" in error
    assert 1.0 <= failed["failed_at"].item() < 1.1
    [(point, told)] = package.open(here / "out").failures
    assert (json.loads(point)[0], told) == ({"flows.0.cca.at": 1.0}, error)


def test_one_that_does_not_begin_has_failed_at_the_beginning(here: Path, called: Command) -> None:
    with (here / "bad.toml").open("a") as file:
        file.write('\n[sweep.grid]\n"flows.0.cca.mode" = ["init", "nan"]\n')
    assert called("sweep", "bad.toml", "--out", "out").returncode == 1
    failed = package.open(here / "out").runs.sort("failed_at")
    assert failed["failed_at"][0] == 0.0
    assert failed["failed_at"][1] > 0.0
    assert "Faulty.__init__ raised ZeroDivisionError" in failed["error"][0]


def processes_naming(word: str) -> list[str]:
    found = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
    return [line for line in found.stdout.splitlines() if word in line]


@pytest.mark.concurrent
def test_nothing_is_left_of_a_command_that_is_killed(here: Path) -> None:
    command = [sys.executable, "-m", "sojourn", "run", "bad.toml", "--set", "flows.0.cca.mode=hang"]
    where = os.environ | {"TMPDIR": str(here)}  # by which its workers are known
    with subprocess.Popen(command, cwd=here, env=where, stderr=subprocess.DEVNULL) as run:
        deadline = time.monotonic() + 30
        # Once is enough: a child that only looks at the control goes by itself.
        while len(seen := processes_naming(f"{here}/sojourn-")) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert len(seen) == 2
        run.kill()
    while processes_naming(f"{here}/sojourn-") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_naming(f"{here}/sojourn-") == []


def test_parameters_are_checked_like_ours(here: Path) -> None:
    def refused(table: str) -> str:
        (here / "refused.toml").write_text(TWO_FLOWS.replace('"reno"', table))
        return refusal(here / "refused.toml").removeprefix("flows.0.cca")

    def faulty(keys: str) -> str:
        return refused(FAULTY.replace(" }", f", {keys} }}"))

    assert faulty("att = 1.0").startswith(".att: unknown parameter 'att'; did you mean 'at'?")
    assert faulty('at = "x"') == ".at: 'x' given; expected a number"
    assert faulty('mode = "rais"').startswith(".mode: unknown choice 'rais'; did you mean 'raise'?")
    assert refused(AIMD.replace("Aimd", "Amid")).startswith(".class: unknown class of")
    missing = refused(AIMD.replace("aimd.py", "no.py"))
    assert missing.endswith("no.py: cannot be read: No such file or directory")
    assert refused('{ kind = "python" }') == ".path: is missing; expected the file of the class"
    assert refused(AIMD.replace(', class = "Aimd"', "")).startswith(".class: is missing")
    (here / "aimd.py").write_text("import nothing_like_it\n")
    assert "ModuleNotFoundError: No module named 'nothing_like_it'" in refused(AIMD)
    (here / "aimd.py").write_text("class Aimd:\n    pass\n")
    assert refused(AIMD) == ".class: Aimd has no method on_ack"


CLASS = """
from dataclasses import dataclass
from sojourn.cca import Control, Decision

class Mine(Control):
    @dataclass
    class Params:
        beta: float = 0.7
        def __post_init__(self): ...
    def __init__(self, params, init): ...
    def on_ack(self, now, ack): ...
    def on_congestion(self, now, event): ...
    def decision(self): return Decision(10, 10)
"""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("class Mine", "nowhere\nclass Mine", "(HERE/mine.py, line 5: nowhere)"),
        ("class Mine", "import helper\nclass Mine", "(HERE/helper.py, line 1: 1 / 0)"),
        ("class Mine", "import json; json.loads('')\nclass Mine", "(HERE/mine.py, line 5: import"),
        ("class Mine(", "class Mine((", "SyntaxError: invalid syntax (mine.py, line 5)"),
        ("(self): ...", "(self): self.gamma", "mine.py, line 9: def __post_init__(self): self.g"),
        ("(self): ...", "(self): raise ValueError('beta: no')", "flows.0.cca: beta: no"),
        ("float =", "'flot' =", "a type in its Params is no type: name 'flot' is not defined"),
    ],
)
def test_what_it_raises_is_told_with_its_own_line(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    (tmp_path / "helper.py").write_text("1 / 0\n")
    (tmp_path / "mine.py").write_text(CLASS.replace(before, after, 1))
    mine = '{ kind = "python", path = "mine.py", class = "Mine" }'
    (tmp_path / "mine.toml").write_text(TWO_FLOWS.replace('"reno"', mine))
    error = refusal(tmp_path / "mine.toml")
    assert told.replace("HERE", str(tmp_path)) in error
    assert "Traceback" not in error
    assert "\n" not in error


def test_defaults_are_filled_in_and_whole_numbers_are_numbers(here: Path) -> None:
    table = load(here / "bad.toml", ["flows.0.cca.at=1"]).canonical["flows"][0]["cca"]
    assert (table["mode"], table["at"]) == ("raise", 1.0)
    assert table["interpreter"].startswith(sys.implementation.name)


def test_results_open_without_the_control(here: Path, called: Command) -> None:
    assert called("run", "mine.toml", "--no-figures", "--out", "out").returncode == 0
    (here / "aimd.py").write_text("raise RuntimeError('run again')\n")
    result = package.open(here / "out")
    assert result.flows["cca"].to_list() == ["Aimd", "cubic"]
    assert called("report", "out").returncode == 0


def test_runs_do_not_see_each_other(here: Path) -> None:
    (here / "counting.py").write_text(
        "from aimd import Aimd\n\n\nclass Counting(Aimd):\n    made = []\n\n"
        "    def __init__(self, params, init):\n        super().__init__(params, init)\n"
        "        Counting.made.append(init)\n        self.cwnd = len(Counting.made)\n"
    )
    path = here / "mine.toml"
    path.write_text(MINE.replace("aimd.py", "counting.py").replace("Aimd", "Counting"))
    windows = [package.run(path).series.flows["cwnd"].to_list() for _ in range(2)]
    assert windows[0] == windows[1]


@pytest.mark.concurrent
def test_processes_execute_as_threads_do() -> None:
    done = processes.execute(range(5), abs, 2)
    assert sorted(n for n in done if n is not None) == [0, 1, 2, 3, 4]
    with pytest.raises(RunError, match="TypeError"):
        list(processes.execute(["x"], abs, 1))
