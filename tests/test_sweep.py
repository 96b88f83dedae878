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
from hypothesis import given
from hypothesis import strategies as st

from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.scenario import load
from sojourn.store import batches, renew, rows
from sojourn.store.batches import Batches
from sojourn.sweeps import directory as own_directory
from sojourn.sweeps import known, run, table, work
from sojourn.sweeps.expand import plan
from sojourn.sweeps.jitter import draw

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


# Expansion


def test_grid_and_replications() -> None:
    points = list(plan(load(SWEEP)))
    assert len(points) == RUNS
    assert len({work.run_key(p.canonical) for p in points}) == RUNS
    assert {p.canonical["seed"] for p in points} == {1, 2, 3, 4}
    first = points[0]
    assert dict(first.coordinates) == {
        "topology.bottleneck.rate": "2 Mbit/s",
        "flows.0.cca": "reno",
    }
    assert first.canonical["topology"]["bottleneck"]["rate"] == "2 Mbit/s"


@given(st.integers(0, 2**64 - 1), st.integers(0, 1000))
def test_jitter_is_uniform_and_depends_on_seed_and_flow_only(seed: int, flow: int) -> None:
    assert 0 <= draw(seed, flow) < 1
    assert draw(seed, flow) == draw(seed, flow)
    assert draw(seed, flow) != draw(seed, flow + 1)


def test_jitter_fills_its_range() -> None:
    drawn = sorted(draw(seed, 0) for seed in range(1000))
    assert max(abs(value - rank / 1000) for rank, value in enumerate(drawn)) < 0.06


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("replications = 4", "replications = 0", "sweep.replications: 0"),
        (
            "replications = 4",
            "repetitions = 4",
            "sweep.repetitions: unknown key 'repetitions'; did you mean 'replications'",
        ),
        ('"50 ms"', "50", "sweep.start_jitter"),
        ('["reno", "cubic"]', '["reno", "cubik"]', "did you mean 'cubic'"),
        ('["reno", "cubic"]', "[]", "expected a list"),
        ('"flows.0.cca" =', '"flows.9.cca" =', "flows.9"),
        ("replications = 4", "replications = 4000000", "at most"),
    ],
)
def test_wrong_sweeps_are_explained(old: str, new: str, told: str) -> None:
    assert old in SWEEP
    with pytest.raises(ScenarioError) as error:
        plan(load(SWEEP.replace(old, new)))
    assert told in str(error.value)


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
    monkeypatch.setattr(work, "simulate", None)  # running anything would fail
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
    for module in (own_directory, work, known, renew):
        monkeypatch.setattr(module, "engine", lambda: "older")
    run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    monkeypatch.undo()
    summary = run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    assert (summary.run, summary.other_builds) == (RUNS, RUNS)
    assert count(tmp_path) == 2 * RUNS
    entries = table.summary(tmp_path, ["mean_agg_throughput_l4"])
    assert entries["n"].to_list() == [4] * (RUNS // 4)


def test_renaming_a_scenario_changes_no_key() -> None:
    points = [next(iter(plan(load(text)))) for text in (SWEEP, SWEEP.replace("two-flows", "x"))]
    assert work.run_key(points[0].canonical) == work.run_key(points[1].canonical)


# Failures


def test_a_failing_run_is_recorded_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = work.simulate

    def fragile(canonical: dict[str, Any]) -> Any:
        if canonical["seed"] == 2:
            raise RuntimeError("broken invariant")
        return whole(canonical)

    monkeypatch.setattr(work, "simulate", fragile)
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


def test_values_that_do_not_go_together_fail_alone(sojourn: Command, sweep_file: Path) -> None:
    text = SWEEP.replace('"flows.0.cca" = ["reno", "cubic"]', '"flows.0.start" = ["0 s", "2 s"]')
    text += '"flows.0.stop" = ["3 s", "1 s"]\n'
    sweep_file.write_text(text.replace("replications = 4", "replications = 1"))
    done = sojourn("sweep", sweep_file, "--format", "csv")
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
    small_disk: Path, sweep_file: Path, sojourn: Command
) -> None:
    first = sojourn("sweep", sweep_file, "--out", small_disk, "--set", "sweep.replications=1")
    assert first.returncode == 0, first.stderr
    before = count(small_disk)
    (small_disk / "ballast").write_bytes(b"x" * (shutil.disk_usage(small_disk).free))
    full = sojourn("sweep", sweep_file, "--out", small_disk)
    assert full.returncode == 1
    assert "No space left" in full.stderr
    assert "Traceback" not in full.stderr
    assert count(small_disk) == before
    (small_disk / "ballast").unlink()
    shutil.rmtree(small_disk / "quarantine", ignore_errors=True)
    resumed = sojourn("sweep", sweep_file, "--out", small_disk, "--set", "sweep.replications=2")
    assert resumed.returncode == 0, resumed.stderr
    assert count(small_disk) == 2 * before


# The store


def fake(keys: range) -> pl.DataFrame:
    made = []
    for key in keys:
        common = {"key": f"{key:032x}", "engine": "e", "point": str(key), "seed": key}
        flow = {"id": 0, "cca": "reno", "label": None, "metrics": {"mean_srtt_l4": float(key)}}
        outcome = {
            "flows": [flow, flow | {"id": 1}],
            "links": [{"id": "bottleneck", "metrics": {"total_qdisc_drops_l2": key}}],
            "net": {"metrics": {"mean_agg_throughput_l4": 1.0}},
            "groups": [],
        }
        made += rows.rows_of(common, {"flows.0.cca": "reno"}, outcome)
    return rows.frame(made)


def test_small_files_are_merged(tmp_path: Path) -> None:
    store = Batches(tmp_path, unexpected)
    for key in range(batches.MERGE + 3):
        store.append(fake(range(key, key + 1)))
    assert len(list(store.directory.glob("merged-*"))) == 1
    assert len(list(store.directory.glob("batch-*"))) == 3
    assert store.read(["key"])["key"].n_unique() == batches.MERGE + 3


def test_dying_between_merging_and_removing_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Batches(tmp_path, unexpected)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_args, **_options: None)
        for key in range(batches.MERGE):
            store.append(fake(range(key, key + 1)))
    assert len(list(store.directory.glob("*.parquet"))) == batches.MERGE + 1
    assert store.read(IDENTITY).height == 4 * batches.MERGE
    (store.directory / ".leftover.partial").write_text("half a file")
    store.tidy()
    assert [path.name.split("-")[0] for path in store.directory.iterdir()] == ["merged"]
    assert store.read(IDENTITY).height == 4 * batches.MERGE


@pytest.fixture(scope="module")
def hundred_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of as many runs, 400,000 rows."""
    directory = tmp_path_factory.mktemp("large")
    store = Batches(directory, unexpected)
    thousand = fake(range(1000))
    for batch in range(100):
        shift = pl.format("{}-{}", "key", pl.lit(str(batch)))
        store.append(thousand.with_columns(key=shift, replication=pl.lit(batch, pl.Int64)))
    return directory


@pytest.mark.concurrent
def test_a_hundred_thousand_runs_are_read_in_seconds(hundred_thousand: Path) -> None:
    began = time.monotonic()
    long = Batches(hundred_thousand).ask(lambda rows: table.aggregate(rows, {}))
    assert time.monotonic() - began < 10
    assert long is not None
    assert set(long["n"]) == {100_000}
    assert long.filter(metric="mean_srtt_l4")["mean"].to_list() == [499.5, 499.5]


def test_reading_takes_less_memory_than_what_is_read(hundred_thousand: Path) -> None:
    read = f"Batches(Path({str(hundred_thousand)!r})).ask(lambda rows: table.aggregate(rows, {{}}))"
    columns = len(fake(range(1)).columns)
    assert _peak_memory(read) - _peak_memory("pass") < 400_000 * columns * 8 / 2


def _peak_memory(action: str) -> int:
    """Bytes that a process of its own takes at most to do this."""
    lines = [
        "from pathlib import Path",
        "from sojourn.store.batches import Batches",
        "from sojourn.sweeps import table",
        action,
        "peak = next(l for l in open('/proc/self/status') if l.startswith('VmHWM'))",
        "print(int(peak.split()[1]) * 1024)",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_the_store_is_read_by_others(tmp_path: Path) -> None:
    Batches(tmp_path, unexpected).append(fake(range(3)))
    assert pl.read_parquet(tmp_path / "runs" / "*.parquet").height == 12


# Tables


def test_confidence_intervals_are_students() -> None:
    values = [10.0, 12.0, 11.0, 13.0]
    common = {"engine": "e"}
    made = [
        rows.rows_of(
            common | {"key": str(i), "point": str(i), "replication": i},
            {"x.y": "1"},
            {
                "flows": [],
                "links": [],
                "net": {"metrics": {"mean_agg_throughput_l4": value}},
                "groups": [],
            },
        )[0]
        for i, value in enumerate(values)
    ]
    [entry] = table.aggregate(rows.frame(made).lazy(), {}, ["mean_agg_throughput_l4"]).to_dicts()
    assert entry["mean"] == 11.5
    # t(3, 0.975) = 3.1824; s = 1.29099; n = 4
    assert entry["ci95"] == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-5)
    single = table.aggregate(rows.frame(made[:1]).lazy(), {}, ["mean_agg_throughput_l4"])
    assert single["ci95"].to_list() == [None]


def test_pivot_and_markdown(tmp_path: Path) -> None:
    run.sweep(plan(load(SWEEP)), tmp_path, 2, progress=quiet, warn=unexpected)
    long = table.summary(tmp_path, ["mean_agg_throughput_l4"])
    header, body, words = table.pivot(
        long, "mean_agg_throughput_l4", (), ("topology.bottleneck.rate",)
    )
    assert header == ["cca", "2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]
    assert words == 1
    assert [line[0] for line in body] == ["reno", "cubic"]
    assert "±" in body[0][1]
    text = table.markdown(header, body)
    assert text.splitlines()[1] == "| --- | --- | --- | --- |"


def test_command_prints_tables_and_writes_the_summary(
    sojourn: Command, sweep_file: Path, tmp_path: Path
) -> None:
    done = sojourn("sweep", sweep_file, "--columns", "flows.0.cca")
    assert done.returncode == 0, done.stderr
    assert f"{RUNS} runs: {RUNS} run now, 0 stored before, 0 failed" in done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    summary = pl.read_csv(tmp_path / "results" / "two-flows" / "summary.csv")
    assert {"topology.bottleneck.rate", "metric", "mean", "ci95", "n"} <= set(summary.columns)
    assert set(summary.filter(metric="mean_throughput_l4")["n"]) == {4}
