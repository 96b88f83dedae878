"""Delays, jitter and runs of losses, beside what every recorded packet tells."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sojourn
from conftest import Command
from made_runs import of, run_of
from sojourn.oracles.queueing import lindley

#: From the sender to the bottleneck, whose far end is the receiver, ns.
PROPAGATION = 10_000_000
#: Of a datagram of 1,000 B with 28 B of headers at 8 Mbit/s, ns.
SERVICE = 1_028_000
#: The error of a quantile that the core counts.
BIN = 1 / 128
POISSON = {
    "transport": "udp",
    "rtt": "20 ms",
    "traffic": {"kind": "poisson", "rate": "6.4 Mbit/s", "size": "1000 B"},
}


def document(flow: dict[str, Any], **more: Any) -> dict[str, Any]:
    queue = {"kind": "fifo", "limit": "10000 packets"}
    link = {"rate": "8 Mbit/s", "overhead": "0 B", "queue": queue, **more.pop("link", {})}
    topology = {"kind": "dumbbell", "bottleneck": link}
    return {"duration": "20 s", "topology": topology, "flows": [flow], **more}


def flow_metrics(result: sojourn.Result) -> dict[str, Any]:
    return result.to_json()["flows"][0]["metrics"]


def test_figures_of_receivers_become_metrics() -> None:
    run = run_of([[1, 1, 1]])
    measured = {
        **{f"arrival_p{percent}": percent / 1000 for percent in (50, 95, 99)},
        **{f"delivery_p{percent}": percent / 100 for percent in (50, 95, 99)},
        **{"jitter": 0.007, "expected_packets": 200, "lost_packets": 12},
        **{"loss_runs": 5, "longest_loss_run": 8},
    }
    # Of one that has lost packets, one that has not, and one that does not measure.
    columns = {name: np.array([value, 0.0, np.nan]) for name, value in measured.items()}
    run.tables["flows"].update(columns)  # type: ignore[attr-defined]
    expected = {
        **{f"p{percent}_one_way_delay_l4": percent for percent in (50, 95, 99)},
        **{f"p{percent}_one_way_delay_l7": 10 * percent for percent in (50, 95, 99)},
        **{"mean_jitter_l4": 7, "packet_loss_l4": 6, "mean_loss_run_l4": 2.4},
        **{"total_loss_runs_l4": 5, "max_loss_run_l4": 8},
    }
    for name, first in expected.items():
        values = of(run, "flow", name)
        assert values[0] == pytest.approx(first), name
        assert np.isnan(values[2])
    assert np.isnan(of(run, "flow", "mean_loss_run_l4")[1]), "nothing was lost"
    assert of(run, "flow", "max_loss_run_l4")[1] == 0


def test_a_poisson_flow_at_a_fifo_is_an_m_d_1_queue() -> None:
    """Quantiles and jitter are those of the waits by Lindley's recursion, after the warm-up."""
    asked = document(POISSON, warmup="2 s", record=["packets"])
    result = sojourn.run(asked)
    enqueued = result.packets.filter(link="bottleneck", event="enqueue").sort("index")
    arrivals = np.round(1e9 * enqueued["time"].to_numpy()).astype(np.int64)
    delays = lindley(arrivals, np.full(len(arrivals), SERVICE)) + SERVICE + PROPAGATION
    at = arrivals - PROPAGATION + delays
    counted = (at > 2_000_000_000) & (at <= 20_000_000_000)
    values = flow_metrics(result)
    for percent in (50, 95, 99):
        rank = int(np.ceil(percent / 100 * counted.sum())) - 1
        exact = np.sort(delays[counted])[rank] / 1e6
        for layer in ("l4", "l7"):
            told = values[f"p{percent}_one_way_delay_{layer}"]
            assert told == pytest.approx(exact, rel=BIN), (percent, layer)
    steps = np.abs(np.diff(delays))[: np.flatnonzero(counted)[-1]]
    estimates = list(itertools.accumulate(steps, lambda j, d: j + (d - j) / 16, initial=0.0))
    jitter = np.mean(np.array(estimates)[np.flatnonzero(counted)]) / 1e6
    assert values["mean_jitter_l4"] == pytest.approx(jitter, rel=1e-6)
    assert values["packet_loss_l4"] == values["total_loss_runs_l4"] == 0


def test_runs_of_losses_are_those_of_the_list() -> None:
    lost = [10, 20, 21, 22, 150, 151, 152, 153, 200]
    flow = {**POISSON, "traffic": {"kind": "cbr", "rate": "0.8 Mbit/s", "size": "1000 B"}}
    # 100 datagrams a second: those up to the 100th belong to the warm-up.
    values = flow_metrics(sojourn.run(document(flow | {"drop": lost}, warmup="1 s")))
    assert values["total_loss_runs_l4"] == 2
    assert values["mean_loss_run_l4"] == 2.5
    assert values["max_loss_run_l4"] == 4
    assert values["packet_loss_l4"] == pytest.approx(100 * 5 / 1900, rel=0.01)
    assert values["p50_one_way_delay_l4"] == values["p99_one_way_delay_l7"]


def test_other_flows_are_measured_on_request() -> None:
    flow = {"cca": "cubic", "rtt": "20 ms", "traffic": {"kind": "sized", "size": "1 MB"}}
    link = {"loss": "1 %"}
    silent = flow_metrics(sojourn.run(document(flow, link=link)))
    assert silent["p50_one_way_delay_l4"] is silent["packet_loss_l4"] is None
    told = flow_metrics(sojourn.run(document(flow | {"packet_metrics": True}, link=link)))
    assert 10 < told["p50_one_way_delay_l4"] <= told["p99_one_way_delay_l4"]
    assert told["p50_one_way_delay_l7"] > told["p50_one_way_delay_l4"]
    assert 0 < told["packet_loss_l4"] < 5
    assert silent["mean_throughput_l4"] == told["mean_throughput_l4"]
    spared = flow_metrics(sojourn.run(document(POISSON | {"packet_metrics": False})))
    assert spared["mean_jitter_l4"] is None
    sliq = {"transport": "sliq", "cca": "copa", "rtt": "20 ms", "mss": 1400}
    messages = flow_metrics(sojourn.run(document(sliq | {"packet_metrics": True}, link=link)))
    assert messages["p50_one_way_delay_l4"] is messages["mean_jitter_l4"] is None
    assert messages["p50_one_way_delay_l7"] <= messages["p99_one_way_delay_l7"]
    assert messages["total_loss_runs_l4"] > 0


def test_quantiles_of_a_sweep_have_intervals(called: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        'duration = "2 s"\n[topology]\nkind = "dumbbell"\nbottleneck = { rate = "8 Mbit/s" }\n'
        '[[flows]]\ntransport = "udp"\nrtt = "20 ms"\n'
        'traffic = { kind = "poisson", rate = "6 Mbit/s" }\n'
        "[sweep]\nreplications = 3\n"
    )
    done = called("sweep", "a.toml", "--out", "swept")
    assert done.returncode == 0, done.stderr
    summary = pl.read_csv(tmp_path / "swept/summary.csv")
    for name in ("p95_one_way_delay_l4", "p99_one_way_delay_l7", "mean_jitter_l4"):
        row = summary.filter(scope="flow", metric=name).row(0, named=True)
        assert row["n"] == 3
        assert 0 < row["ci95"] < row["mean"]
