"""How sweeps and evaluations on other backends than the simulator are run."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fake_backend
import sojourn
from fake_commands import RUNS, SWEEP, command, line, made
from sojourn import ScenarioError, SojournError, backends
from sojourn.backends import live, sim
from sojourn.store.samples import Samples
from sojourn.sweeps.work import Identified, Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the fake backend has been asked for."""
    monkeypatch.setenv("FAKE_RUNS", str(tmp_path / "notes"))
    return tmp_path / "notes"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend, in this process."""
    monkeypatch.setitem(backends.NAMES, "fake", "fake_backend")


def test_live_runs_go_on_one_at_a_time(
    file: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ALONE", "1")
    done = command(file, "sweep", file, "--backend", "fake", "--jobs", 3)
    cluster = command(file, "sweep", file, "--backend", "fake", "--cluster", "local:2")
    assert done.returncode == 0, done.stderr
    assert "--jobs 3: fake runs go on one at a time" in done.stderr
    assert notes.read_text() == "begins\nends\n" * RUNS
    assert cluster.returncode == 2
    assert "--cluster local:2: fake runs are this machine's own" in cluster.stderr


@pytest.mark.concurrent
def test_a_cluster_makes_the_runs_of_the_same_backend_only(
    file: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = ("sweep", file, "--backend", "fake", "--cluster", "local:2")
    done = command(file, *on)
    assert done.returncode == 0, done.stderr
    assert f"{RUNS} run now, 0 stored before" in done.stderr
    assert made(notes) == RUNS
    wanted = Run(backend="fake", origin=fake_backend.key())
    monkeypatch.setitem(backends.NAMES, "fake", "fake_backend")
    monkeypatch.setenv("FAKE_BUILD", "2")
    with pytest.raises(SojournError, match=r"a worker has another fake: .*'2'.* is wanted"):
        wanted(Identified("key", ({}, 0), "{}", None))


@pytest.mark.alone
@pytest.mark.concurrent
@pytest.mark.needs("live")
def test_a_live_sweep(file: Path) -> None:
    """On a busy machine a run may be invalid, which is told."""
    done = command(file, "sweep", file, "--backend", "live", "--jobs", 2)
    assert "--jobs 2: live runs go on one at a time" in done.stderr
    assert f"{RUNS} run now, 0 stored before" in done.stderr
    assert done.returncode == int("the run is invalid" in done.stderr), done.stderr
    again = command(file, "sweep", file, "--backend", "live")
    assert f"0 run now, {RUNS} stored before" in again.stderr


@pytest.mark.concurrent
@pytest.mark.needs("live")
def test_an_interrupted_live_sweep_ends_at_once(file: Path) -> None:
    arguments = ("sweep", file, "--backend", "live", "--set", 'duration="300 s"')
    process = subprocess.Popen(line(*arguments), cwd=file.parent, stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert f"0 of {RUNS} runs are stored" in told


def test_an_invalid_live_run_has_failed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sim.measure

    def noisy(canonical: dict[str, Any], _progress: object) -> Any:
        is_valid = canonical["seed"] == 1
        return *whole(canonical), {"valid": is_valid, "reasons": ["the processor was busy"]}

    monkeypatch.setattr(live, "_run", noisy)
    monkeypatch.chdir(file.parent)
    made = sojourn.sweep(file, backend="live")
    assert made.runs.filter(pl.col("scope") == "net").height == RUNS // 2
    assert {error for _, error in made.failures} == {"the run is invalid: the processor was busy"}


def test_a_dry_run_estimates_from_runs_of_the_backend(file: Path, notes: Path) -> None:
    done = command(file, "sweep", file, "--backend", "fake", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f"{RUNS} runs: none stored yet, {RUNS} to run" in done.stdout
    assert "estimated by running 4 of them" in done.stdout
    assert made(notes) == 4
    assert not (file.parent / "results").exists()


def test_metrics_that_need_further_runs_ask_the_backend(
    file: Path, notes: Path, fake: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    stored = sojourn.sweep(file, backend="fake")
    file.write_text(SWEEP.replace("[sweep]", '[sweep]\nmetrics = ["harm_throughput_l4"]'))
    assert "alone" not in notes.read_text()
    assert len(list(Samples(stored.directory, pytest.fail).of(set(stored.runs["key"])))) == RUNS
    again = sojourn.sweep(file, directory=stored.directory, backend="fake")
    assert "alone" in notes.read_text()
    flows = again.runs.filter(pl.col("scope") == "flow")
    assert flows["harm_throughput_l4"].count() == 2 * RUNS


def test_a_sweep_from_python_is_planned_once(
    file: Path, notes: Path, fake: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    checked: list[object] = []
    monkeypatch.setattr(fake_backend, "check", checked.append)
    made = sojourn.sweep(file, backend="fake")
    assert len(checked) == 2  # each value of the grid
    assert set(made.runs["backend"]) == {"fake"}
    with pytest.raises(ScenarioError, match="backend: 'simulator' given; allowed: sim, live"):
        sojourn.sweep(file, backend="simulator")


@pytest.mark.concurrent
def test_an_evaluation_on_another_backend(file: Path, notes: Path) -> None:
    suite = ("--quick", "--experiment", "random-walk", "--against", "cubic", "--out", "out")
    done = command(file, "evaluate", "reno", *suite, "--backend", "fake")
    assert done.returncode == 0, done.stderr
    assert made(notes) == 32
    assert command(file, "evaluate", "reno", *suite, "--backend", "fake").returncode == 0
    assert made(notes) == 32
    refused = command(file, "evaluate", "reno", *suite)
    assert refused.returncode == 2
    assert "--out out: holds another evaluation: of fake (build 1), not of the" in refused.stderr
    assert command(file, "report", "out").returncode == 0
    replaced = command(file, "evaluate", "reno", *suite, "--force")
    assert replaced.returncode == 0, replaced.stderr
    sweep = next((file.parent / "out" / "sweeps" / "random-walk").glob("*/reno"))
    assert set(sojourn.open(sweep).runs["backend"]) == {"sim"}
