"""Tables that the core passes on while it runs: the run is the same, and a short one in memory."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from conftest import TWO_FLOWS
from sojourn import _internal, spool
from sojourn.engine import simulate
from sojourn.metrics.columns import Column
from sojourn.scenario import load
from sojourn.spool import LONG, OnDisk, Spool
from sojourn.store import run_directory, samples

Engine = Any
_CORE: Engine = _internal.run


def in_parts(rows: int) -> Engine:
    """The core with chunks of so many rows, made by hand of its whole tables."""

    def run(
        scenario: str, progress: Any, record: Any, threads: int, tables: Any
    ) -> dict[str, Mapping[str, Column]]:
        outcome = _CORE(scenario, progress, record, threads)
        for name in ("flow_samples", "link_samples"):
            whole = outcome[name]
            ends = range(rows, len(whole["time"]) + 1, rows)
            for end in ends:
                tables(name, {column: of[end - rows : end] for column, of in whole.items()})
            last = max(ends, default=0)
            outcome[name] = {column: of[last:] for column, of in whole.items()}
        return dict(outcome)

    return run


@pytest.fixture(scope="module")
def whole() -> sojourn.Result:
    return sojourn.run(TWO_FLOWS)


@pytest.mark.parametrize("rows", [20, 30])
def test_a_run_in_parts_is_the_same_run(
    whole: sojourn.Result, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_internal, "run", in_parts(rows))
    monkeypatch.setattr(spool, "_AT_ONCE", 7)
    monkeypatch.setattr(spool, "LONG", 7)
    result = sojourn.run(TWO_FLOWS, spool=tmp_path)
    table = result.data.tables["flow_samples"]
    assert isinstance(table, OnDisk)
    assert (table.height, list(table)) == (60, list(whole.data.tables["flow_samples"]))
    assert "cwnd" in table
    assert "nothing" not in table
    assert result.to_json() == whole.to_json()
    assert result.series.flows.equals(whole.series.flows, null_equal=True)
    assert len(list(tmp_path.glob(".spool-*.partial"))) == 1
    result.save(tmp_path / "stored")
    again = run_directory.load(tmp_path / "stored")
    assert again.series.links.equals(whole.series.links, null_equal=True)
    assert again.to_json() == whole.to_json()
    del result, table
    gc.collect()
    assert not list(tmp_path.glob(".spool-*"))


def test_a_long_table_of_a_stored_run_is_read_by_column(
    whole: sojourn.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole.save(tmp_path)
    monkeypatch.setattr(run_directory, "LONG", 60)
    again = run_directory.load(tmp_path)
    kinds = {name: type(table) for name, table in again.data.tables.items()}
    assert [name for name, kind in kinds.items() if kind is OnDisk] == ["flow_samples"]
    assert again.to_json() == whole.to_json()


def test_a_run_that_ends_soon_after_its_first_part_stays_in_memory(
    whole: sojourn.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_internal, "run", in_parts(40))
    monkeypatch.setattr(spool, "LONG", 30)
    result = sojourn.run(TWO_FLOWS, spool=tmp_path)
    assert not any(isinstance(table, OnDisk) for table in result.data.tables.values())
    assert result.series.flows.equals(whole.series.flows, null_equal=True)
    assert result.to_json() == whole.to_json()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("long", [1, LONG])
def test_the_first_rows_have_the_types_of_all(long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "LONG", long)

    def whole(third: float) -> Mapping[str, Column]:
        parts = Spool()
        parts.add("samples", {"a": np.array([1, 2]), "b": np.array([1.5, np.nan])})
        (table,) = parts.whole({"samples": {"a": np.array([third]), "b": np.array([3])}}).values()
        assert isinstance(table, OnDisk) == (long == 1)
        return table

    table = whole(3.0)
    assert (table["a"].dtype, table["b"].dtype) == (np.int64, np.float64)
    assert table["b"].tolist()[::2] == [1.5, 3.0]
    with pytest.raises(pl.exceptions.InvalidOperationError):
        whole(np.nan)


def test_a_run_too_long_to_be_kept_has_metrics_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = TWO_FLOWS + '[sweep.grid]\n"topology.bottleneck.rate" = ["4 Mbit/s", "8 Mbit/s"]\n'
    monkeypatch.setattr(_internal, "run", in_parts(20))
    monkeypatch.setattr(samples, "MOST_KEPT", 0)
    with pytest.warns(UserWarning, match="2 runs are too long for their samples to be stored"):
        made = sojourn.sweep(grid, directory=tmp_path, jobs=1)
    assert made.summary.height > 0
    assert not list(tmp_path.glob("samples/*.parquet"))


def canonical(duration: str, interval: str) -> dict[str, Any]:
    """Two slow flows of datagrams."""
    traffic = {"kind": "cbr", "rate": "8 kbit/s", "size": "1 kB"}
    flow = {"transport": "udp", "rtt": "0 ms", "traffic": traffic}
    link = {"rate": "1 Mbit/s", "queue": {"kind": "fifo", "limit": "9 packets"}}
    document = {
        **{"duration": duration, "sample_interval": interval},
        **{"topology": {"kind": "dumbbell", "bottleneck": link}, "flows": [flow, flow]},
    }
    return load(document).canonical


def test_the_core_passes_on_what_becomes_long(tmp_path: Path) -> None:
    scenario = canonical(f"{LONG + 100} ms", "1 ms")
    whole = _CORE(json.dumps(scenario))
    tables = simulate(scenario, spool=tmp_path)[0].tables
    assert {name for name, table in tables.items() if isinstance(table, OnDisk)} == {"flow_samples"}
    for name, table in tables.items():
        assert list(table) == list(whole[name])
        for column, values in whole[name].items():
            assert np.array_equal(table[column], values, equal_nan=True), column
            assert table[column].dtype == values.dtype


def test_a_short_run_writes_nothing(tmp_path: Path) -> None:
    tables = simulate(canonical(f"{LONG // 2 - 1} ms", "1 ms"), spool=tmp_path)[0].tables
    assert not any(isinstance(table, OnDisk) for table in tables.values())
    assert not list(tmp_path.iterdir())


def test_rows_that_cannot_be_written_end_the_run() -> None:
    scenario = json.dumps(canonical(f"{LONG} ms", "1 ms"))

    def full(_name: str, _columns: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        _CORE(scenario, tables=full)


def test_rows_that_wait_for_more_are_read() -> None:
    spool = Spool()
    spool.add("passages", {"time": np.array([1.0, 2.0])})
    assert spool.scan("passages").collect()["time"].to_list() == [1.0, 2.0]
