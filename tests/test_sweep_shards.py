"""A sweep in parts, united; and what a sweep would take."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.backends import sim
from sojourn.build import definitions, engine
from sojourn.cli.units import duration, size
from sojourn.scenario import load
from sojourn.store import manifest, rows
from sojourn.store.batches import Batches
from sojourn.store.samples import Samples
from sojourn.sweeps import estimate, run
from sojourn.sweeps.directory import KIND
from sojourn.sweeps.expand import Plan, plan
from sojourn.sweeps.merge import merge

SWEEP = (
    TWO_FLOWS
    + """
[sweep]
replications = 4

[sweep.grid]
"topology.bottleneck.rate" = ["2 Mbit/s", "4 Mbit/s"]
"flows.0.cca" = ["reno", "cubic", { kind = "cubic", beta = 0.7 }]
"""
)
RUNS = 24
IDENTITY = ["point", "scope", "id"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def stored(directory: Path) -> pl.DataFrame:
    whole = Batches(directory).ask(lambda rows: rows.drop("wall_seconds").collect())
    assert whole is not None
    return whole.sort(IDENTITY)


@given(st.integers(1, 30))
def test_every_run_is_in_one_shard(parts: int) -> None:
    sizes = [len(_sharded(part, parts)) for part in range(1, parts + 1)]
    assert sum(sizes) == RUNS
    assert max(sizes) - min(sizes) <= 1


def _sharded(part: int, parts: int) -> Plan:
    whole = plan(load(SWEEP))
    return Plan(whole.document, whole.grid, whole.replications, whole.start_jitter, (part, parts))


def test_shards_are_the_plan_in_turn() -> None:
    whole = [(p.coordinates, p.replication) for p in plan(load(SWEEP))]
    for part in (1, 2, 3):
        shard = [(p.coordinates, p.replication) for p in _sharded(part, 3)]
        assert shard == whole[part - 1 :: 3]


def test_shards_as_a_user_runs_and_merges_them(called: Command, file: Path, tmp_path: Path) -> None:
    parts = [tmp_path / "results" / f"two-flows-{part}-of-3" for part in (1, 2, 3)]
    for part in (1, 2, 3):
        done = called("sweep", file, "--shard", f"{part}/3", "--format", "csv")
        assert done.returncode == 0, done.stderr
        assert "8 runs: " in done.stderr
    some = called("merge", *parts[:2], "--out", "whole")
    assert "16 of 24 runs stored, 0 failed" in some.stderr
    assert "8 runs are missing: sojourn sweep FILE --out whole" in some.stderr
    for _ in range(2):  # merging again changes nothing
        united = called("merge", *parts, "--out", "whole")
        assert united.returncode == 0, united.stderr
        assert "24 of 24 runs stored, 0 failed" in united.stderr
    again = called("sweep", file, "--out", "whole", "--format", "csv")
    assert "24 runs: 0 run now, 24 stored before, 0 failed" in again.stderr
    single = called("sweep", file, "--out", "single", "--format", "csv")
    assert single.returncode == 0
    assert stored(tmp_path / "whole").equals(stored(tmp_path / "single"))
    assert Samples(tmp_path / "whole", print).keys() == set(stored(tmp_path / "whole")["key"])
    summaries = [pl.read_csv(tmp_path / name / "summary.csv") for name in ("whole", "single")]
    assert_frame_equal(*summaries)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_wrong_shards_are_explained(called: Command, file: Path, shard: str) -> None:
    done = called("sweep", file, "--shard", shard)
    assert done.returncode == 2
    assert "expected I/N" in done.stderr


def test_other_sweeps_are_not_merged(called: Command, file: Path, tmp_path: Path) -> None:
    for out, change in (("a", "duration=1 s"), ("b", "duration=2 s"), ("c", "name=other")):
        called("sweep", file, "--out", out, "--set", change, "--set", "sweep.replications=1")
    refused = called("merge", "a", "b", "--out", "d")
    assert refused.returncode == 2
    assert "b: its document differs from that of a: it is of another scenario" in refused.stderr
    assert not (tmp_path / "d" / "runs").exists()
    before = stored(tmp_path / "b")
    assert called("merge", "a", "--out", "b").returncode == 2
    assert stored(tmp_path / "b").equals(before)
    nothing = called("merge", "a", "missing", "--out", "d")
    assert nothing.returncode == 2
    assert "missing: not a result directory" in nothing.stderr


def _made(name: int, failed: bool) -> list[rows.Row]:
    common = {
        "key": str(name),
        "engine": engine(),
        "metrics": definitions(),
        "point": f"point {name}",
    }
    if failed:
        return rows.failure(common, {"x": name}, "broken")
    flow = {"id": 0, "cca": "reno", "label": None, "metrics": {"mean_srtt_l4": float(name)}}
    net = {"metrics": {"mean_agg_throughput_l4": 1.0}}
    outcome = {"flows": [flow], "links": [], "net": net, "groups": []}
    return rows.rows_of(common, {"x": name}, outcome)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.booleans())), min_size=1, max_size=4))
def test_merging_loses_no_run_and_doubles_none(parts: list[list[tuple[int, bool]]]) -> None:
    content = {
        "engine": engine(),
        "metrics": definitions(),
        "document": {},
        "grid": {"x": list(range(10))},
        "replications": 1,
        "start_jitter": None,
    }
    with tempfile.TemporaryDirectory() as made:
        sources = [Path(made) / str(number) for number in range(len(parts))]
        for source, part in zip(sources, parts, strict=True):
            manifest.write(source, KIND, content)
            for name, failed in dict.fromkeys(part):
                Batches(source).append(rows.frame(_made(name, failed)))
        out = Path(made) / "out"
        merged = merge(sources, out, pytest.fail)
        every = {entry for part in parts for entry in part}
        succeeded = {name for name, failed in every if not failed}
        assert merged.stored == len({name for name, _ in every})
        assert merged.failed == len({name for name, _ in every} - succeeded)
        flows = Batches(out).read(["key", "scope"]).filter(scope="flow")["key"].to_list()
        assert sorted(flows) == sorted(map(str, succeeded))


def test_parts_of_another_build_are_refused(tmp_path: Path) -> None:
    for name, build in (("a", "old"), ("b", "new")):
        content: dict[str, Any] = {"engine": build, "metrics": "", "document": {}, "grid": {}}
        manifest.write(tmp_path / name, KIND, content | {"replications": 1, "start_jitter": None})
    with pytest.raises(ScenarioError, match="its engine differs"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c", pytest.fail)


# What a sweep would take


def test_dry_run_as_a_user_types_it(called: Command, file: Path, tmp_path: Path) -> None:
    done = called("sweep", file, "--dry-run", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "24 runs: 8 stored or the same as others, 16 to run" in done.stdout
    assert re.search(
        r"about [\d.]+ s with 1 at a time.*; [\d.]+ [kM]B in results/two-flows", done.stdout
    )
    assert "estimated by running 5 of them, one at a time" in done.stdout
    assert not (tmp_path / "results").exists()
    called("sweep", file, "--format", "csv")
    again = called("sweep", file, "--dry-run")
    assert again.stdout == "24 runs: all are stored, nothing to run\n"


def test_disk_is_estimated_from_what_runs_take(tmp_path: Path) -> None:
    whole = plan(load(SWEEP))
    told = estimate.estimate(whole, tmp_path, 1)
    assert (told.runs, told.timed, told.cut) == (16, 5, 0)
    run.sweep(whole, tmp_path, 2, progress=lambda *_: None, warn=pytest.fail)
    taken = sum(path.stat().st_size for path in tmp_path.glob("*/*.parquet"))
    assert taken / 3 < told.bytes < 3 * taken
    assert estimate.estimate(whole, tmp_path, 1).runs == 0


def test_a_long_run_is_cut_off_and_extrapolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = plan(load(SWEEP.replace('duration = "3 s"', 'duration = "60 s"')))
    whole = estimate.estimate(long, tmp_path, 1)
    clock = iter(range(1000))

    def ten_seconds(_canonical: Any, watch: Any) -> None:
        for second in range(1, 11):
            watch(second / 10)

    monkeypatch.setattr(sim, "measure", ten_seconds)
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: next(clock))
    cut = estimate.estimate(long, tmp_path, 2)
    assert cut.cut == cut.timed == 5
    assert cut.seconds == pytest.approx(16 * 10 / 2, rel=0.4)
    assert whole.bytes / 2 < cut.bytes < 2 * whole.bytes


@pytest.mark.parametrize(
    ("value", "told"), [(0.26, "0.3 s"), (42, "42 s"), (300, "5.0 min"), (9000, "2.5 h")]
)
def test_times_are_told_to_a_person(value: float, told: str) -> None:
    assert duration(value) == told


@pytest.mark.parametrize(("value", "told"), [(12, "12 B"), (2_400_000, "2.4 MB"), (56e9, "56 GB")])
def test_sizes_are_told_to_a_person(value: float, told: str) -> None:
    assert size(value) == told
