"""Sweeps: expansion, resumption, and everything that may go wrong on the way."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import TWO_FLOWS, Command
from sojourn.backends import sim
from sojourn.campaign import keys
from sojourn.scenario import load
from sojourn.store import renew
from sojourn.store.batches import Batches
from sojourn.sweeps import directory as own_directory
from sojourn.sweeps import known, run, table, work
from sojourn.sweeps.expand import plan

SWEEP = (
    TWO_FLOWS
    + """
[sweep]
replications = 4
start_jitter = "50 ms"

[sweep.grid]
"topology.bottleneck.rate" = ["2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]
"flows.0.cca" = ["reno", "cubic"]
"""
)
RUNS = 24
IDENTITY = ["point", "scope", "id"]


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def stored(directory: Path) -> pl.DataFrame:
    """What a sweep's directory holds, but for times of the wall clock."""
    whole = Batches(directory, unexpected).ask(lambda rows: rows.drop("wall_seconds").collect())
    assert whole is not None
    return whole.sort(IDENTITY)


def count(directory: Path) -> int:
    return Batches(directory).read(["key"])["key"].n_unique()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    directory = tmp_path_factory.mktemp("undisturbed")
    run.sweep(plan(load(SWEEP)), directory, 2, progress=quiet, warn=unexpected)
    return stored(directory)


def quiet(_done: int, _total: int) -> None:
    pass


def unexpected(message: str) -> None:
    raise AssertionError(message)


def start(file: Path, directory: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sojourn", "sweep", str(file), "--out", str(directory)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, "--format", "csv", *options], **pipes)


# Running and resuming


def test_results_are_complete_and_of_the_right_runs(undisturbed: pl.DataFrame) -> None:
    assert undisturbed["key"].n_unique() == RUNS
    assert undisturbed.filter(pl.col("scope") == "net").height == RUNS
    assert undisturbed.filter(pl.col("scope") == "flow").height == 2 * RUNS
    assert not undisturbed.select(IDENTITY).is_duplicated().any()
    links = undisturbed.filter(id="bottleneck")
    rate = links["topology.bottleneck.rate"].str.extract(r"(\d+)").cast(pl.Float64)
    assert (links["mean_sending_rate_l1"] <= rate * 1.01).all()
    assert (links["mean_sending_rate_l1"] >= rate * 0.7).all()


@pytest.mark.concurrent
def test_number_of_workers_does_not_matter(undisturbed: pl.DataFrame, tmp_path: Path) -> None:
    run.sweep(plan(load(SWEEP)), tmp_path, 1, progress=quiet, warn=unexpected)
    assert stored(tmp_path).equals(undisturbed)


def test_what_is_stored_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (first.run, first.stored_before) == (RUNS, 0)
    monkeypatch.setattr(sim, "measure", None)  # running anything would fail
    again = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (again.run, again.stored_before, again.failed) == (0, RUNS, 0)


def test_a_larger_grid_runs_what_is_new(tmp_path: Path) -> None:
    run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    larger = SWEEP.replace("[sweep.grid]", '[sweep.grid]\n"flows.1.rtt" = ["20 ms", "40 ms"]')
    summary = run.sweep(plan(load(larger)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (summary.run, summary.stored_before) == (RUNS, RUNS)
    frame = stored(tmp_path).filter(pl.col("flows.1.rtt").is_not_null())
    assert frame.select("flows.1.rtt", "key").unique()["flows.1.rtt"].value_counts().sort(
        "flows.1.rtt"
    ).rows() == [("20 ms", RUNS), ("40 ms", RUNS)]


def test_other_builds_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (own_directory, work, keys, known, renew):
        monkeypatch.setattr(module, "engine", lambda: "older")
    run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    monkeypatch.undo()
    summary = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (summary.run, summary.other_builds) == (RUNS, RUNS)
    assert count(tmp_path) == 2 * RUNS
    entries = table.summary(tmp_path, ["mean_agg_throughput_l4"])
    assert entries["n"].to_list() == [4] * (RUNS // 4)


# Failures


def test_a_failing_run_is_recorded_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sim.measure

    def fragile(canonical: dict[str, Any], **given: Any) -> Any:
        if canonical["seed"] == 2:
            raise RuntimeError("broken invariant")
        return whole(canonical, **given)

    monkeypatch.setattr(sim, "measure", fragile)
    summary = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (summary.run, summary.failed) == (RUNS, RUNS // 4)
    failures = table.failures(tmp_path)
    assert len(failures) == RUNS // 4
    assert failures[0][1] == "RuntimeError: broken invariant"
    again = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (again.run, again.failed) == (0, RUNS // 4)
    monkeypatch.undo()
    repaired = run.sweep(
        plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected, retry_failed=True
    )
    assert (repaired.run, repaired.failed) == (RUNS // 4, 0)
    final = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (final.run, final.failed) == (0, 0)
    assert not table.failures(tmp_path)


def test_values_that_do_not_go_together_fail_alone(called: Command, sweep_file: Path) -> None:
    text = SWEEP.replace('"flows.0.cca" = ["reno", "cubic"]', '"flows.0.start" = ["0 s", "2 s"]')
    text += '"flows.0.stop" = ["3 s", "1 s"]\n'
    sweep_file.write_text(text.replace("replications = 4", "replications = 1"))
    done = called("sweep", sweep_file, "--format", "csv")
    assert done.returncode == 1
    assert "12 runs: 12 run now, 0 stored before, 3 failed" in done.stderr
    assert "flows.0" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
@pytest.mark.concurrent
def test_killed_at_any_moment_it_resumes(
    sweep_file: Path, tmp_path: Path, undisturbed: pl.DataFrame
) -> None:
    directory = tmp_path / "killed"
    chance = random.Random(6)
    for _ in range(10):
        process = start(sweep_file, directory, "--jobs", "1", "--set", "sweep.replications=2000")
        time.sleep(chance.uniform(0.2, 2.0))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    # The killed sweeps had more replications; now the one to compare with, killed as well.
    for pause in (0.5, 0.8):
        process = start(sweep_file, directory)
        time.sleep(pause)
        process.kill()
        process.communicate()
    process = start(sweep_file, directory)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    mine = stored(directory).filter(pl.col("key").is_in(undisturbed["key"].implode()))
    assert mine.equals(undisturbed)
    assert not list(directory.glob("*/.*"))


@pytest.mark.concurrent
def test_two_sweeps_at_once_share_the_work(
    sweep_file: Path, tmp_path: Path, undisturbed: pl.DataFrame
) -> None:
    directory = tmp_path / "shared"
    processes = [start(sweep_file, directory) for _ in range(2)]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    assert stored(directory).equals(undisturbed)
    whole = pl.concat(
        [pl.read_parquet(path) for path in (directory / "runs").glob("*.parquet")],
        how="diagonal_relaxed",
    )
    assert whole.height == undisturbed.height, "a run is stored twice"


def test_a_damaged_file_is_set_aside_and_run_again(
    tmp_path: Path, undisturbed: pl.DataFrame, sweep_file: Path
) -> None:
    run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    [path] = (tmp_path / "runs").glob("*.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    warnings: list[str] = []
    summary = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=warnings.append)
    assert summary.run == RUNS
    assert len(warnings) == 1
    assert "damaged" in warnings[0]
    assert list((tmp_path / "quarantine").iterdir())
    assert stored(tmp_path).equals(undisturbed)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "small"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(directory)]
    subprocess.run(mount, check=True)
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


@pytest.mark.needs("mount")
def test_a_full_disk_is_told_and_loses_nothing_stored(
    small_disk: Path, sweep_file: Path, called: Command
) -> None:
    first = called("sweep", sweep_file, "--out", small_disk, "--set", "sweep.replications=1")
    assert first.returncode == 0, first.stderr
    before = count(small_disk)
    (small_disk / "ballast").write_bytes(b"x" * (shutil.disk_usage(small_disk).free))
    full = called("sweep", sweep_file, "--out", small_disk)
    assert full.returncode == 1
    assert "No space left" in full.stderr
    assert "Traceback" not in full.stderr
    assert count(small_disk) == before
    (small_disk / "ballast").unlink()
    shutil.rmtree(small_disk / "quarantine", ignore_errors=True)
    resumed = called("sweep", sweep_file, "--out", small_disk, "--set", "sweep.replications=2")
    assert resumed.returncode == 0, resumed.stderr
    assert count(small_disk) == 2 * before


# Tables


def test_command_prints_tables_and_writes_the_summary(
    called: Command, sweep_file: Path, tmp_path: Path
) -> None:
    done = called("sweep", sweep_file, "--columns", "flows.0.cca")
    assert done.returncode == 0, done.stderr
    assert f"{RUNS} runs: {RUNS} run now, 0 stored before, 0 failed" in done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    summary = pl.read_csv(tmp_path / "results" / "two-flows" / "summary.csv")
    assert {"topology.bottleneck.rate", "metric", "mean", "ci95", "n"} <= set(summary.columns)
    assert set(summary.filter(metric="mean_throughput_l4")["n"]) == {4}
