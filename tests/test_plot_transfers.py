"""Figures of transfers: by size with intervals, and distributions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from made_transfers import Transfer, measured, run_of_transfers
from sojourn.errors import ScenarioError
from sojourn.figures.plots import request
from sojourn.figures.plots.request import Request, chart
from sojourn.figures.plots.source import Source, Stored
from sojourn.metrics import RunData
from sojourn.report.plot import save
from sojourn.store import run_directory
from sojourn.store.rows import COMMON, frame, rows_of
from sojourn.sweeps import table

WINDOWS = {"10": 1.0, "30": 0.5}


def made(seed: int = 1, factor: float = 1.0) -> RunData:
    """Small and large transfers in turn, the large ones ten times as slow."""
    random = np.random.default_rng(seed)
    slow = factor * (0.1 + random.exponential(0.01, size=4000))
    rows: list[Transfer] = [
        (0, 0.002 * i, float(value) * (1 + 9 * (i % 2)), 5_000 if i % 2 == 0 else 50_000)
        for i, value in enumerate(slow)
    ]
    run = run_of_transfers(rows, duration=20)
    run.network["arrivals"][0]["variants"] = [{"cca": "cubic", "base_rtt": 0.02}]
    return run


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run")
    run_directory.save(measured(made()), path)
    return path


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The rows of two initial windows with three replications each."""
    rows: list[Any] = []
    for window, factor in WINDOWS.items():
        for seed in range(3):
            common = {**dict.fromkeys(COMMON), "replication": seed, "point": window}
            told = measured(made(seed, factor)).to_json()
            at = {**common, "key": f"{window} {seed}"}
            rows += rows_of(at, {"arrivals.0.initial_window": int(window)}, told)
    path = "arrivals.0.initial_window"
    source = Source.of([Stored(Path("sweep"), frame(rows), [path])])
    monkeypatch.setattr(request, "read", lambda *_: source)
    return Path("sweep")


def test_a_run_by_size_has_intervals_of_batches(directory: Path, tmp_path: Path) -> None:
    drawn = chart(directory, Request(kind="fct", y="slowdown_p50"))
    panel = drawn.panels[0]
    (line,) = panel.lines
    assert np.allclose(line.x, [np.sqrt(1e3 * 1e4), np.sqrt(1e4 * 1e5)])
    small, large = np.asarray(line.y)
    assert large == pytest.approx(10 * small, rel=0.2)
    error = np.asarray(line.error)
    assert (error > 0).all()
    assert (error < 0.2 * np.asarray(line.y)).all()
    assert panel.log_x
    assert "batch means" in drawn.note
    for ending in ("svg", "html"):
        save(drawn, tmp_path / f"figure.{ending}")
        assert (tmp_path / f"figure.{ending}").stat().st_size > 0


def test_a_sweep_by_size_has_intervals_of_replications(sweep: Path) -> None:
    drawn = chart(sweep, Request("fct_p95", hue="arrivals.0.initial_window", kind="fct"))
    ten, thirty = drawn.panels[0].lines
    assert np.allclose(np.asarray(thirty.y), 0.5 * np.asarray(ten.y), rtol=0.05)
    assert np.isfinite(np.asarray(ten.error)).all()
    assert "3 replications" in drawn.note


def test_axes_are_of_all_sizes_unless_sizes_are_asked_for(sweep: Path) -> None:
    path = "arrivals.0.initial_window"
    (line,) = chart(sweep, Request("fct_p50", path)).panels[0].lines
    assert len(np.asarray(line.y)) == 2
    several = chart(sweep, Request("fct_p50", path, hue="sizes")).panels[0].lines
    assert [one.label for one in several] == ["all", "1 kB-10 kB", "10 kB-100 kB"]
    kept = Request("fct_p50", path, where=[("sizes", "10 kB-100 kB")])
    (large,) = chart(sweep, kept).panels[0].lines
    assert (np.asarray(large.y) > np.asarray(line.y)).all()


def test_distributions_are_of_transfers(directory: Path) -> None:
    (below,) = chart(directory, Request("fct", kind="ecdf")).panels[0].lines
    assert np.max(below.y) == 1.0
    above = chart(directory, Request("slowdown", hue="sizes", kind="ccdf")).panels[0]
    assert [line.label for line in above.lines] == ["1 kB-10 kB", "10 kB-100 kB"]
    for line in above.lines:
        shares = np.asarray(line.y)
        assert shares[0] == 1.0
        assert shares.min() == pytest.approx(1 / 2000)
        assert (np.diff(shares) <= 0).all()
    assert above.log_y


def test_a_tail_is_drawn_whole(directory: Path) -> None:
    (line,) = chart(directory, Request("fct", kind="ccdf")).panels[0].lines
    tail = np.asarray(line.y)[-101:]
    assert tail[0] == pytest.approx(100 / 4000)
    assert np.allclose(tail, np.append(np.arange(100, 0, -1), 1) / 4000)


def test_refusals_name_the_option(directory: Path) -> None:
    for asked, told in (
        (Request(kind="ccdf"), "--y: needed"),
        (Request("mean_throughput_l4", kind="fct"), "--y: "),
    ):
        with pytest.raises(ScenarioError, match=told):
            chart(directory, asked)


def test_metrics_of_transfers_are_stored(directory: Path) -> None:
    stored = pl.read_parquet(directory / "metrics_transfers.parquet")
    assert stored["id"].to_list() == ["web", "web 1 kB-10 kB", "web 10 kB-100 kB"]
    assert run_directory.load(directory).completions.equals(stored)


def test_a_sweep_lists_sizes_in_order() -> None:
    """Also those that the first replication lacks."""
    rows: list[Any] = []
    for seed, sizes in enumerate(((50, 5_000), (50, 500, 5_000))):
        run = run_of_transfers([(0, 1.0, 0.5, size) for size in sizes], labels=("web", "dns"))
        common = {**dict.fromkeys(COMMON), "replication": seed, "point": "", "key": str(seed)}
        rows += rows_of(common, {}, measured(run).to_json())
    long = table.with_members(table.aggregate(frame(rows).lazy(), {}, ["count"]))
    members = ["web", "web 10 B-100 B", "web 100 B-1 kB", "web 1 kB-10 kB", "dns"]
    assert long["member"].to_list() == members
