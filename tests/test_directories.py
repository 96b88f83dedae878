"""Results are safe: nothing is lost, nothing mixed."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from conftest import Command, call
from sojourn.scenario import load
from sojourn.store import backends_directory, manifest, run_directory

TINY = """
name = "tiny"
duration = "200 ms"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "8 Mbit/s"
queue = { kind = "fifo", limit = "20 packets" }

[[flows]]
cca = "reno"
rtt = "20 ms"

[sweep]
start_jitter = "10 ms"

[sweep.grid]
"topology.bottleneck.rate" = ["4 Mbit/s", "8 Mbit/s"]
"""


@contextlib.contextmanager
def empty_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        Path("tiny.toml").write_text(TINY)
        yield Path(name)


@pytest.fixture
def home() -> Iterator[Path]:
    with empty_directory() as directory:
        yield directory


def test_what_another_scenario_left_is_kept_apart_or_refused(home: Path) -> None:
    told = "ignoring its [sweep] table; to run the whole grid: sojourn sweep tiny.toml"
    assert told in call("run", "tiny.toml", "--no-figures").stderr
    swept = call("sweep", "tiny.toml")
    assert "results/tiny holds a run; results go to results/tiny-sweep" in swept.stderr
    other = call("run", "tiny.toml", "--no-figures", "--set", "flows.0.cca=cubic")
    assert "flows.0.cca.kind is reno, here cubic" in other.stderr
    assert "results: results/tiny-2" in other.stderr
    refused = call("run", "tiny.toml", "--seed", "2", "--out", "results/tiny-sweep")
    assert refused.returncode == 2
    assert "--out results/tiny-sweep: holds a sweep" in refused.stderr
    assert "--force" in refused.stderr
    again = call("sweep", "tiny.toml")
    assert "0 run now, 2 stored before" in again.stderr
    assert "results: results/tiny-sweep" in again.stderr


def test_what_was_made_of_earlier_results_goes_with_them(home: Path) -> None:
    call("run", "tiny.toml")
    call("report", "results/tiny")
    mine = home / "results/tiny/figures/mine.txt"
    mine.write_text("a note")
    call("run", "tiny.toml", "--no-figures")
    assert not (home / "results/tiny/report.html").exists()
    assert [path.name for path in (home / "results/tiny/figures").iterdir()] == ["mine.txt"]
    call("sweep", "tiny.toml", "--out", "results/tiny", "--force")
    left = {path.name for path in (home / "results/tiny").iterdir()}
    assert left == {".lock", "figures", "manifest.json", "runs", "samples", "summary.csv"}
    assert mine.exists()


def test_a_report_does_not_go_among_other_results(home: Path) -> None:
    call("run", "tiny.toml", "--no-figures", "--out", "a")
    call("run", "tiny.toml", "--no-figures", "--out", "b", "--seed", "2")
    refused = call("report", "a", "--out", "b")
    assert refused.returncode == 2
    assert "--out b: holds other results" in refused.stderr
    assert call("report", "nowhere").returncode == 2
    assert not Path("nowhere").exists()


def test_an_interrupted_run_leaves_the_directory_free(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        told = call("report", "out")
        assert "has not finished" in told.stderr
        assert "holds another run" in call("run", "tiny.toml", "--out", "out", "--seed", "2").stderr
        raise KeyboardInterrupt

    monkeypatch.setattr("sojourn.engine.simulate", interrupted)
    assert call("run", "tiny.toml", "--out", "out").returncode == 130
    monkeypatch.undo()
    assert call("run", "tiny.toml", "--out", "out", "--seed", "2", "--no-figures").returncode == 0


@pytest.mark.concurrent
def test_runs_at_the_same_time_take_directories_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    base = [sys.executable, "-m", "sojourn", "run", "tiny.toml", "--no-figures", "--seed"]
    started = [
        subprocess.Popen([*base, seed], cwd=tmp_path, stdout=subprocess.DEVNULL) for seed in "123"
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    found = [manifest.read(path)["scenario"]["seed"] for path in (tmp_path / "results").iterdir()]
    assert sorted(found) == [1, 2, 3]


# Whatever happens after the run


@pytest.mark.concurrent
def test_a_closed_pipe_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    shell = f"{sys.executable} -m sojourn run tiny.toml --out out --format csv"
    statuses = "; echo ${PIPESTATUS[0]} >status"
    line = ["bash", "-c", f"{shell} | true {statuses}"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (tmp_path / "status").read_text() == "0\n", done.stderr
    assert len(list((tmp_path / "out/figures").glob("*.png"))) == 3
    assert (tmp_path / "out/metrics_net.parquet").exists()
    assert "results: out" in done.stderr


def test_a_failing_figure_is_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sojourn.figures import FIGURES

    def broken(_result: object) -> None:
        raise ZeroDivisionError("no flows")

    monkeypatch.setitem(FIGURES, "ecdf", broken)
    done = call("run", "tiny.toml")
    assert done.returncode == 0
    assert "figure ecdf could not be drawn: ZeroDivisionError: no flows" in done.stderr
    drawn = {path.name for path in (home / "results/tiny/figures").glob("*.png")}
    assert drawn == {"operating_point.png", "throughput_delay.png"}


def test_who_ran_it_tells_directories_apart() -> None:
    def live(host: str) -> dict[str, Any]:
        return {"backend": "live", "host": host, "kernel": "6.18", "repetition": 0}

    scenario = load(TINY)
    here = backends_directory.tenant(scenario, {"sim": [None], "live": [live("here")]})
    there = backends_directory.tenant(scenario, {"sim": [None], "live": [live("there")]})
    assert here.differs(here.identity) == ""
    assert "live-0 of live (host there, kernel 6.18" in here.differs(there.identity)
    kernel = run_directory.tenant(scenario, {"backend": "kernel", "kernel": "6.12", "hz": 250})
    assert kernel.differs(here.identity).startswith("of the simulator, not of kernel (kernel 6.12")


def test_a_full_disk_costs_no_numbers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", mock.Mock(side_effect=[None, None, OSError(28, "No space")]))
    done = call("run", "tiny.toml", "--format", "json")
    assert done.returncode == 1
    assert "No space" in done.stderr
    assert json.loads(done.stdout)["flows"]
    assert not list((home / "results/tiny").glob("*.parquet"))


def test_a_run_of_no_metric_of_the_network(called: Command, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    arguments = ("run", "tiny.toml", "--no-figures", "--metrics", "mean_throughput_l4")
    for output in ("table", "csv", "json"):
        done = called(*arguments, "--format", output)
        assert done.returncode == 0, done.stderr
        assert "mean_throughput_l4" in done.stdout
    assert (tmp_path / "results/tiny/metrics_net.parquet").exists()


def test_a_scenario_from_standard_input(sojourn: Command, tmp_path: Path) -> None:
    done = sojourn("run", "-", "--no-figures", input=TINY)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/tiny/manifest.json").exists()
    assert sojourn("run", "-", input="").returncode == 2
    assert "TOML" in sojourn("run", "-", input="name = [").stderr


# A long run on a terminal


@pytest.mark.concurrent
def test_a_long_run_shows_its_progress_and_can_be_interrupted(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY.replace("200 ms", "100000 s"))
    terminal, end = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "sojourn",
        "run",
        "tiny.toml",
        "--set",
        "sample_interval=1 min",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=end, stdout=subprocess.DEVNULL)
    os.close(end)
    shown = b""
    while b"simulating" not in shown:
        shown += os.read(terminal, 1000)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    with contextlib.suppress(OSError):  # the terminal is gone
        while part := os.read(terminal, 1000):
            shown += part
    assert process.wait(timeout=60) == 130
    assert time.monotonic() - asked < 10
    assert b"interrupted" in shown
    assert not (tmp_path / "results/tiny/manifest.json").exists()
