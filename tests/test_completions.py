"""Transfers by label and size: definitions, undefined values, intervals, what is printed."""

from __future__ import annotations

import json
from typing import Any

import click
import numpy as np
import pytest

from made_runs import of, run_of
from made_transfers import FAILED, IDEAL, Transfer, measured, run_of_transfers
from sojourn.cli.units import Sizes
from sojourn.metrics.warnings import warnings_of
from sojourn.notebook import describe, html
from sojourn.statistics.batches import half_width


def test_members_are_labels_and_their_bins() -> None:
    rows: list[Transfer] = [(1, 1.0, 0.2, 999), (0, 1.5, 0.2, 1000), (0, 2.0, 0.3, 99_999)]
    frame = measured(run_of_transfers(rows, labels=("web", "dns"))).completions
    assert frame.select("id", "label", "size_low", "size_high", "count").rows() == [
        ("web", "web", None, None, 2),
        ("web 1 kB-10 kB", "web", 1000, 10_000, 1),
        ("web 10 kB-100 kB", "web", 10_000, 100_000, 1),
        ("dns", "dns", None, None, 1),
        ("dns 100 B-1 kB", "dns", 100, 1000, 1),
    ]


def test_quantiles_are_linear_between_values_and_null_where_too_few() -> None:
    rows: list[Transfer] = [(0, 0.01 * i, 0.01 * (i + 1), 5000) for i in range(100)]
    values = measured(run_of_transfers(rows)).completions.to_dicts()[0]
    assert values["fct_mean"] == pytest.approx(0.505)
    assert values["fct_p50"] == pytest.approx(0.505)
    assert values["fct_p95"] == pytest.approx(0.9505)
    assert values["fct_p99"] == pytest.approx(0.9901)
    assert values["slowdown_p99"] == pytest.approx(0.9901 / IDEAL)
    assert values["fct_p999"] is None
    fewer = measured(run_of_transfers(rows[1:])).completions.to_dicts()[0]
    assert fewer["fct_p99"] is None
    assert fewer["fct_p95"] is not None


def test_unfinished_ones_count_with_their_age() -> None:
    rows: list[Transfer] = [(0, 1.0, 1.0, 10), (0, 4.0, None, 10), (0, 8.0, None, 10)]
    run = run_of_transfers(rows, failed=[2])
    assert of(run, "transfer", "unfinished")[0] == 2
    assert of(run, "transfer", "fct_mean")[0] == pytest.approx((1 + 6 + 2) / 3)
    assert of(run, "transfer", "slowdown_mean")[0] == pytest.approx((1 + 6 + 2) / 3 / IDEAL)
    told = [w for w in warnings_of(measured(run)) if w.scope == "transfer"]
    assert [(w.severity, w.id) for w in told] == [("warning", "web"), ("warning", "web")]
    texts = " ".join(w.text for w in told)
    assert "1 of 3 transfers" in texts
    assert "2 of 3 transfers (67 %)" in texts


def test_few_unfinished_ones_are_no_warning() -> None:
    rows: list[Transfer] = [(0, 0.001 * i, 0.5, 10) for i in range(1000)]
    live: list[Transfer] = [(0, 5.0, None, 10)]
    for transfers, warned in ((rows + live, False), (rows[:998] + live, True)):
        told = warnings_of(measured(run_of_transfers(transfers)))
        assert any(w.scope == "transfer" for w in told) == warned


def test_the_cohort_arrives_after_the_warm_up() -> None:
    rows: list[Transfer] = [(0, 1.0, 3.0, 10), (0, 2.0, 0.5, 10), (0, 3.0, 0.5, 10)]
    run = run_of_transfers(rows, warmup="2 s")
    assert of(run, "transfer", "count")[0] == 2
    assert of(run, "transfer", "fct_mean")[0] == pytest.approx(0.5)


def test_loads_are_of_the_time_in_which_transfers_arrive() -> None:
    # 1 MB in 8 s at 10 Mbit/s is a load of 0.1.
    rows: list[Transfer] = [(0, 1.0, 3.0, 5_000_000), (0, 3.0, 2.0, 1_000_000)]
    counts: Any = [[{"carried_bytes": 500_000 * s, "live": s, "connections": 2}] for s in range(10)]
    run = run_of_transfers(rows, warmup="2 s", entry={"stop": "10 s"}, counts=counts)
    assert of(run, "transfer", "offered_load")[0] == pytest.approx(0.1)
    assert of(run, "transfer", "offered_wire_load")[0] == pytest.approx(0.11)
    assert of(run, "transfer", "carried_load")[0] == pytest.approx(0.4)
    assert of(run, "transfer", "most_live")[0] == 9
    assert of(run, "transfer", "mean_live")[0] == pytest.approx(5.0)
    assert of(run, "transfer", "mean_connections")[0] == 2
    assert np.isnan(of(run, "transfer", "offered_load")[1])


def test_json_has_the_transfers_of_labels_and_sizes() -> None:
    rows: list[Transfer] = [(0, 0.1 * i, 0.1, 2000) for i in range(20)]
    document = json.loads(json.dumps(measured(run_of_transfers(rows)).to_json()))
    everything, bin_ = document["transfers"]
    assert (everything["label"], everything["sizes"]) == ("web", None)
    assert (bin_["label"], bin_["sizes"]) == ("web", [1000, 10_000])
    names = ["count", "unfinished"]
    for quantity in ("fct", "slowdown"):
        names += [f"{quantity}_{s}" for s in ("mean", "p50", "p95", "p99", "p999")]
    assert set(names) <= set(everything["metrics"])
    assert everything["metrics"]["count"] == 20
    assert everything["metrics"]["fct_p99"] is None


def test_intervals_are_of_stretches() -> None:
    random = np.random.default_rng(1)
    values = random.exponential(size=20_000)
    half = half_width(values)
    assert half == pytest.approx(2.5 * values.std() / np.sqrt(len(values)), rel=0.6)
    order = np.sort(values)  # What lasts makes stretches differ.
    assert half_width(order) > 10 * half
    assert np.isnan(half_width(values[:19_999], 0.99))
    assert half_width(values, 0.99) > 0
    assert np.isnan(half_width(np.ones(5000)))


@pytest.mark.parametrize(("load", "least"), [(0.5, 0.92), (0.8, 0.85)])
@pytest.mark.parametrize(
    ("share", "count"), [(None, 1000), (0.5, 1000), (0.95, 4000), (0.99, 20_000)]
)
def test_intervals_cover(load: float, least: float, share: float | None, count: int) -> None:
    """Of sojourn times in M/M/1, exponential of mean 1 / (1 - load), which depend on each other the
    longer the higher the load; with the fewest that are enough.
    """
    true = (1.0 if share is None else -np.log(1 - share)) / (1 - load)
    covered, trials = 0, 200
    for trial in range(trials):
        random = np.random.default_rng(trial)
        gaps, service = random.exponential(1 / load, count), random.exponential(1, count)
        steps = np.concatenate(([0.0], np.cumsum(service[:-1] - gaps[1:])))
        values = steps - np.minimum.accumulate(steps) + service  # Lindley
        found = values.mean() if share is None else np.quantile(values, share)
        covered += abs(found - true) <= half_width(values, share)
    assert least <= covered / trials < 0.995


def test_intervals_follow_the_order_of_arrival() -> None:
    values = np.random.default_rng(3).exponential(size=2000)
    rows: list[Transfer] = [(0, 0.01 * i, float(v), 10) for i, v in enumerate(values)]
    made = measured(run_of_transfers(list(reversed(rows))))
    assert made.intervals("fct_mean")[0] == pytest.approx(half_width(values))


def test_a_run_of_arrivals_alone_has_metrics() -> None:
    rows: list[Transfer] = [(0, 0.1 * i, 0.1, 2000) for i in range(20)]
    made = measured(run_of_transfers(rows, flows=0))
    frames = made.complete()
    assert frames["flows"].height == 0
    assert frames["transfers"]["count"].to_list() == [20, 20]
    assert frames["net"].height == 1
    assert made.to_json()["flows"] == []
    assert warnings_of(made) == []


def test_a_run_without_arrivals_has_no_transfers() -> None:
    plain = measured(run_of([[1.0]]))
    assert plain.completions.height == 0
    assert "fct_p99" in plain.completions.columns
    assert "transfers" not in plain.complete()


def test_a_failed_transfer_is_told() -> None:
    run = run_of_transfers([(0, 1.0, None, 10)], failed=[0])
    assert run.tables["transfers"]["outcome"].tolist() == [FAILED]
    assert any(w.text.startswith("failed") for w in warnings_of(measured(run)))


def test_bins_may_be_others() -> None:
    rows: list[Transfer] = [(0, 1.0, 0.1, size) for size in (500, 10_000, 14_999, 15_000, 90_000)]
    frame = measured(run_of_transfers(rows)).by_size((10_000, 15_000, 50_000)).completions
    told = [("web", 5), ("web 10 kB-15 kB", 2), ("web 15 kB-50 kB", 1)]
    assert frame.select("id", "count").rows() == told
    with pytest.raises(click.BadParameter, match="given; expected two or more rising"):
        Sizes().convert("15 kB,10 kB", None, None)


def test_a_notebook_shows_the_transfers() -> None:
    alone = measured(run_of_transfers([(0, 1.0, 0.1, 2000)] * 30, flows=0))
    assert describe(alone) == "'made': transfers (web), 10 s, seed 1"
    assert "web 1 kB-10 kB" in html(alone)
