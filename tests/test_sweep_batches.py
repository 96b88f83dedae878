"""The files of a sweep's rows: few, whole, and read a part at a time."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from sojourn.store import batches, rows
from sojourn.store.batches import Batches
from sojourn.sweeps import table
from test_sweep import IDENTITY, unexpected


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
