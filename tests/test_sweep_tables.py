"""Tables of sweeps: replications that are none, numbers beside texts, names of metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError, _internal
from sojourn.quantity import number
from sojourn.scenario import load
from sojourn.store import rows
from sojourn.store.batches import Batches
from sojourn.store.rows import numeric
from sojourn.sweeps import run, table
from sojourn.sweeps.expand import plan
from sojourn.sweeps.jitter import jittered_by_rtt
from test_sweep import SWEEP as GRID
from test_sweep import quiet, unexpected

SWEEP = TWO_FLOWS + "\n[sweep]\nreplications = 5\n"
OFF = SWEEP + 'start_jitter = "0 ms"\n'


def starts(text: str) -> list[list[float]]:
    points = plan(load(text))
    return [[number(flow["start"]) for flow in point.canonical["flows"]] for point in points]


def summary(directory: Path, text: str) -> pl.DataFrame:
    run.sweep(plan(load(text)), directory, 2, progress=lambda *_: None, warn=pytest.fail)
    return table.summary(directory)


# Start jitter


def test_replications_start_at_different_times_by_default() -> None:
    drawn = [start for run in starts(SWEEP) for start in run]
    assert len(set(drawn)) == 10
    assert 0.01 < max(drawn) < 0.02  # the base RTT is 20 ms


def test_jitter_is_switched_off_by_zero_or_one_replication() -> None:
    assert starts(OFF) == [[0, 0]] * 5
    assert starts(SWEEP.replace("= 5", "= 1")) == [[0, 0]]


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 2**32))
def test_default_jitter_is_a_base_rtt(rtt: int, delay: int, seed: int) -> None:
    hop = f'{{ rate = "10 Mbit/s", delay = "{delay} ms" }}'
    text = f"""
        name = "hops"
        duration = "10 s"
        seed = {seed}
        topology = {{ kind = "parking_lot", hops = [{hop}, {hop}] }}
        flows = [{{ cca = "reno", rtt = "{rtt} ms" }}]
    """
    canonical = load(text).canonical
    [base_rtt] = _internal.base_rtts(json.dumps(canonical))
    assert base_rtt == pytest.approx((rtt + 2 * delay) / 1e3)
    [flow] = jittered_by_rtt(canonical)["flows"]
    assert 0 <= number(flow["start"]) <= max(base_rtt, 0.01)


def test_jitter_leaves_short_flows_their_time() -> None:
    short = SWEEP.replace('duration = "3 s"', 'duration = "1 ms"')
    assert all(start <= 0.0005 for run in starts(short) for start in run)


# Identical replications


def test_identical_replications_are_called_so(tmp_path: Path) -> None:
    long = summary(tmp_path, OFF)
    assert set(long["distinct"]) == {1}
    assert long["ci95"].null_count() == len(long)
    [row] = long.filter(metric="mean_agg_throughput_l4").to_dicts()
    assert table.cell(row).endswith(" (n = 5, identical)")
    [warning] = table.warnings(long)
    assert "5 replications are identical" in warning


def test_a_constant_of_different_replications_is_not_called_identical(tmp_path: Path) -> None:
    long = summary(tmp_path, SWEEP)
    assert set(long["distinct"]) == {5}
    constant = long.filter(metric="total_rtos_l4").to_dicts()[0]
    assert table.cell(constant) == "0 ± 0"
    assert table.warnings(long) == []


def test_few_courses_of_many_replications_are_told(tmp_path: Path) -> None:
    long = summary(tmp_path, SWEEP).with_columns(distinct=pl.lit(2))
    [warning] = table.warnings(long)
    assert "took only 2 different courses" in warning


# Numbers beside texts


@pytest.mark.parametrize(
    ("text", "column", "value"),
    [
        ("10 Mbit/s", "x_mbit_s", 10.0),
        ("2.5 Gbit/s", "x_mbit_s", 2500.0),
        ("2.3 ms", "x_ms", 2.3),
        ("1 min", "x_ms", 60_000.0),
        ("100 kB", "x_bytes", 1e5),
        ("40 packets", "x_packets", 40.0),
        ("1.5 bdp", "x_bdp", 1.5),
        ("0.1 %", "x_number", 0.001),
        ("0.7", "x_number", 0.7),
    ],
)
def test_quantities_are_numbers_with_their_unit(text: str, column: str, value: float) -> None:
    assert numeric("x", text) == (column, value)


@pytest.mark.parametrize("text", ["reno", "auto", '{"kind": "codel"}', "true", "_", "bbr3"])
def test_words_are_no_numbers(text: str) -> None:
    assert numeric("x", text) is None


def test_rows_and_summary_carry_numbers(tmp_path: Path) -> None:
    grid = """
        [sweep.grid]
        "topology.bottleneck.rate" = ["4 Mbit/s", "0.5 Mbit/s"]
        "topology.bottleneck.queue.limit" = ["1 bdp", "20 packets"]
    """
    long = summary(tmp_path, SWEEP + grid)
    stored = Batches(tmp_path).ask(lambda rows: rows.collect())
    assert stored is not None
    for frame in (long, stored):
        rates = dict(frame.select(pl.col("^topology.bottleneck.rate.*$")).unique().rows())
        assert rates == {"4 Mbit/s": 4.0, "0.5 Mbit/s": 0.5}
        limit = "topology.bottleneck.queue.limit"
        limits = frame.select(limit, f"{limit}_bdp", f"{limit}_packets").unique()
        assert set(limits.rows()) == {("1 bdp", 1.0, None), ("20 packets", None, 20.0)}
    assert table.coordinates_of(long) == [
        "topology.bottleneck.rate",
        "topology.bottleneck.queue.limit",
    ]


# The grid's errors


@pytest.mark.parametrize(
    ("grid", "field", "told"),
    [
        (
            '"flows.0.cca" = ["reno", "cubik"]',
            'sweep.grid."flows.0.cca"[1]',
            "= 'cubik': unknown",
        ),
        (
            '"flows.1.cca" = ["reno", "cubic"]\n"flows.0.rtt" = ["20", "10 ms"]',
            'sweep.grid."flows.0.rtt"[0]',
            "= '20':",
        ),
        (
            '"flows.*.rtt" = ["20 ms", 5]',
            'sweep.grid."flows.*.rtt"[1]',
            "= 5: ",
        ),
        (
            '"topology.bottleneck.queue" = ["fifo", { kind = "codel", goal = 1 }]',
            'sweep.grid."topology.bottleneck.queue"[1]',
            "goal",
        ),
        (
            '"flows.1.cca" = ["reno"]\n"flows.7.rtt" = ["20 ms"]',
            'sweep.grid."flows.7.rtt"[0]',
            "flows.7: no such entry",
        ),
    ],
)
def test_a_wrong_value_blames_its_place_in_the_grid(grid: str, field: str, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        plan(load(f"{SWEEP}[sweep.grid]\n{grid}\n"))
    error: Any = caught.value
    assert error.field == field
    assert str(error).startswith(field)
    assert told in str(error)


def test_first_values_that_do_not_go_together_blame_the_grid() -> None:
    grid = '"flows.0.start" = ["2 s", "0 s"]\n"flows.1.stop" = ["1 s"]\n"flows.0.stop" = ["1 s"]'
    with pytest.raises(ScenarioError, match=r"^sweep\.grid"):
        plan(load(f"{SWEEP}[sweep.grid]\n{grid}\n"))


# The command


def test_equal_points_and_identical_replications_as_told(called: Command, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(OFF + '[sweep.grid]\n"flows.0.cca" = ["reno", { kind = "reno", beta = 0.5 }]\n')
    chosen = ("--metrics", "mean_agg_throughput_l4,mean_srtt_l4", "--metric", "utilization_l1")
    done = called("sweep", file, *chosen)
    assert done.returncode == 0, done.stderr
    assert "10 runs: 5 run now, 0 stored before, 5 equal to another point, 0 failed" in done.stderr
    assert "replications at 2 of 2 points are not independent" in done.stderr
    assert "(n = 5, identical)" in done.stdout
    for metric in ("mean_agg_throughput_l4 (Mbit/s)", "mean_srtt_l4 (ms)", "utilization_l1"):
        assert f"{metric}: mean ± 95 % confidence\n" in done.stdout
    again = called("sweep", file, *chosen)
    assert "10 runs: 0 run now, 10 stored before, 0 failed" in again.stderr
    wrong = called("sweep", file, "--metrics", "mean_srtt")
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr
    further = called("sweep", file, "--metrics", "harm_delay_l4")
    assert further.returncode == 2
    assert "harm_delay_l4 needs further runs" in further.stderr


def test_seed_of_a_sweep(called: Command, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    done = called("sweep", file, "--seed", "100", "--out", "out", "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = Batches(tmp_path / "out").read(["seed"])
    assert set(rows["seed"]) == {100, 101, 102, 103, 104}


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
    run.sweep(plan(load(GRID)), tmp_path, 2, progress=quiet, warn=unexpected)
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
