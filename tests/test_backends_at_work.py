"""How sweeps and evaluations on other backends than the simulator are run."""

from __future__ import annotations

import signal
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fake_backend
import sojourn
from conftest import TWO_FLOWS, Command
from fake_commands import RUNS, SWEEP, command, line, made
from sojourn import ScenarioError, SojournError, backends
from sojourn.backends import live, sim
from sojourn.evaluation import directory as evaluation
from sojourn.figures.plots.request import Request, chart
from sojourn.origin import ran_on
from sojourn.report import report
from sojourn.store.samples import Samples
from sojourn.sweeps.work import Identified, Run
from test_live import own_namespaces, wait_for


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(SWEEP)
    return path


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
    # A first namespace shows that live runs are permitted.
    is_claimed = wait_for(lambda: [*file.parent.glob("results/*/*")], while_alive=process)
    runs = wait_for(lambda: own_namespaces(process.pid), while_alive=process)
    assert is_claimed
    assert runs
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


def test_a_dry_run_estimates_from_runs_of_the_backend(
    file: Path, notes: Path, faked: Command
) -> None:
    done = faked("sweep", file, "--backend", "fake", "--dry-run")
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


@pytest.mark.long
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
    for page in (file.parent / "out" / "report.html", report(file.parent / "out")):
        assert "experiments (quick), on fake (build 1)." in page.read_text()
    replaced = command(file, "evaluate", "reno", *suite, "--force")
    assert replaced.returncode == 0, replaced.stderr
    sweep = next((file.parent / "out" / "sweeps" / "random-walk").glob("*/reno"))
    assert set(sojourn.open(sweep).runs["backend"]) == {"sim"}


def test_a_run_from_python_goes_through_the_backend(notes: Path, fake: None) -> None:
    result = sojourn.run(TWO_FLOWS, backend="fake", metrics=["mean_throughput_l4"])
    assert made(notes) == 1
    assert result.origin == {"backend": "fake", "build": "1"}
    assert result.flows.columns == ["id", "cca", "label", "mean_throughput_l4"]
    assert "on fake (build 1)" in repr(result)
    for name in ("simulator", "sim,fake", "fake:1"):
        with pytest.raises(ScenarioError, match=f"backend: '{name}' given; allowed: sim, live"):
            sojourn.run(TWO_FLOWS, backend=name)
    with pytest.raises(ScenarioError, match=r"metrics: unknown metric 'mean_throughput'; did you"):
        sojourn.run(TWO_FLOWS, metrics=["mean_throughput"])
    assert made(notes) == 1


def test_an_invalid_run_is_warned_of_wherever_it_is_looked_at(
    file: Path, fake: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    quality = {"valid": False, "reasons": ["the processor was busy"]}
    monkeypatch.setattr(
        fake_backend, "key", lambda _=0: {"backend": "fake", "build": "1", "quality": quality}
    )
    with pytest.warns(UserWarning, match="the run is invalid: the processor was busy"):
        result = sojourn.run(TWO_FLOWS, backend="fake")
    assert result.origin["quality"] == quality
    result.save(file.parent / "out")
    page = report(file.parent / "out").read_text()
    assert "error: the run is invalid: the processor was busy" in page


def test_several_runs_of_one_backend_need_no_other(file: Path, notes: Path, faked: Command) -> None:
    done = faked("run", file, "--backend", "fake", "--seeds", 2, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert made(notes) == 2
    assert done.stdout.count("on fake (build 1)") == 2
    assert sorted(path.name for path in (file.parent / "out").iterdir() if path.is_dir()) == [
        "fake-0",
        "fake-1",
    ]


def test_sweeps_comparisons_and_figures_say_what_they_were_run_on(
    file: Path, notes: Path, fake: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    there, here = sojourn.sweep(file, backend="fake"), sojourn.sweep(file)
    assert "2 replications, on fake (build 1)" in repr(there)
    assert "on fake" not in repr(here)
    told = report(there.directory).read_text()
    assert "topology.bottleneck.rate (2 values), on fake (build 1)." in told
    found = sojourn.compare(there, here)
    a, b = there.directory.name, here.directory.name
    assert found.sentence.startswith(f"{a}, on fake (build 1), against {b}, in the simulator: ")
    evaluation.save(found, file.parent, pytest.fail)
    told = report(file.parent).read_text()
    assert found.sentence in unescape(told)
    assert f"B is {b}, in the simulator." in told
    drawn = chart(there.directory, Request("utilization_l1", x="topology.bottleneck.rate"))
    assert drawn.note.endswith(" Run on fake (build 1).")


def test_kernels_are_told_with_version_and_hz() -> None:
    built = {"backend": "kernel", "kernel": "6.12.117", "hz": 1000, "build": "5f0c"}
    assert ran_on(built) == "on a kernel in virtual time (kernel 6.12.117, HZ 1000, build 5f0c)"
    live = {"backend": "live", "host": "lab", "kernel": "6.8.0", "repetition": 1, "quality": {}}
    assert ran_on(live) == "on a live kernel (host lab, kernel 6.8.0)"
