"""The table of transfers, as it is stored and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from conftest import TWO_FLOWS
from sojourn.engine import simulate
from sojourn.errors import ScenarioError
from sojourn.measured import Measured
from sojourn.scenario import load
from sojourn.spool import OnDisk, Spool
from sojourn.store import run_directory, samples
from sojourn.transfers import COLUMNS

CUBIC, BBR = {"kind": "cubic"}, {"kind": "bbr"}
ENTRIES: list[dict[str, Any]] = [
    {"label": "web", "cca": CUBIC, "mix": [{"weight": 1.0}, {"weight": 2.0, "cca": BBR}]},
    {"label": "dns", "transport": "udp"},
]
NAN = np.nan
#: A finished, a live and a failed transfer, as the core tells them.
ROWS: dict[str, Any] = {
    **{"arrivals": [0, 1, 0], "variant": [1, 0, 0], "group": [0, 1, 2]},
    **{"arrival": [0.5, 1.0, 2.0], "start": [0.5, 1.0, 2.0], "completed": [0.75, NAN, NAN]},
    **{"size": [10_000, 100, 7], "slowdown": [1.5, NAN, NAN], "retransmissions": [1, 0, 9]},
    **{"timeouts": [0, 0, 3], "marks": [2, 0, 0], "rtt": [0.02, NAN, 0.04]},
    **{"min_rtt": [0.01, NAN, 0.03], "outcome": [0, 1, 2]},
}
COUNTS = {"time": [0.1, 0.1], "arrivals": [0, 1], "arrived": [2, 1]}


def arrays(table: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(values) for name, values in table.items()}


@pytest.fixture(scope="module")
def run() -> Measured:
    scenario = load(TWO_FLOWS)
    data, timing = simulate(scenario.canonical)
    canonical = {**scenario.canonical, "arrivals": ENTRIES}
    arrived = {"transfers": arrays(ROWS), "arrival_samples": arrays(COUNTS)}
    data = replace(data, scenario=canonical, tables={**data.tables, **arrived})
    return Measured(replace(scenario, canonical=canonical), data, timing)


def test_a_run_stores_its_transfers(run: Measured, tmp_path: Path) -> None:
    run_directory.save(run, tmp_path)
    stored = pl.read_parquet(tmp_path / "transfers.parquet")
    assert stored.columns == list(COLUMNS)
    assert stored.equals(run.transfers)
    words = stored.select("label", "cca", "outcome").cast(pl.String).rows()
    expected = [("web", "bbr", "finished"), ("dns", "udp", "live"), ("web", "cubic", "failed")]
    assert words == expected
    assert stored["completed"].to_list() == [0.75, None, None]
    assert stored["rtt"].to_list() == [0.02, None, 0.04]
    again = run_directory.load(tmp_path)
    for name, table in (("transfers", ROWS), ("arrival_samples", COUNTS)):
        read = again.data.tables[name]
        assert read.keys() == table.keys()
        for column, values in arrays(table).items():
            assert np.array_equal(read[column], values, equal_nan=column in ROWS), column
            assert read[column].dtype == values.dtype
    assert again.transfers.equals(run.transfers)


def test_those_on_disk_are_the_same(
    run: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, rows = Spool(), arrays(ROWS)
    spool.add("transfers", {name: values[:2] for name, values in rows.items()})
    rest = {name: values[2:] for name, values in rows.items()}
    tables = {**run.data.tables, **spool.whole({"transfers": rest})}
    long = Measured(run.scenario, replace(run.data, tables=tables), run.timing)
    assert long.transfers.equals(run.transfers)
    run_directory.save(long, tmp_path)
    monkeypatch.setattr(run_directory, "LONG", 3)
    again = run_directory.load(tmp_path)
    assert isinstance(again.data.tables["transfers"], OnDisk)
    assert again.scan_transfers().select("label").collect()["label"].to_list() == [
        *("web", "dns", "web")
    ]


def test_samples_of_many_runs_have_transfers(run: Measured) -> None:
    again = samples.unpacked(samples.packed("key", run.data))
    assert again.tables["transfers"]["size"].tolist() == ROWS["size"]
    plain = samples.unpacked(samples.packed("key", simulate(load(TWO_FLOWS).canonical)[0]))
    assert "transfers" not in plain.tables


def test_a_run_without_arrivals_says_so(run: Measured, tmp_path: Path) -> None:
    run_directory.save(run, tmp_path)
    plain = sojourn.run(TWO_FLOWS)
    with pytest.raises(ScenarioError, match="transfers: none arrive"):
        _ = plain.transfers
    plain.save(tmp_path, force=True)
    assert not (tmp_path / "transfers.parquet").exists()
    assert not (tmp_path / "arrival_samples.parquet").exists()
