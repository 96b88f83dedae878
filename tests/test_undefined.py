"""What is undefined is null in JSON and Parquet, empty in CSV, and never 0."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

from conftest import TWO_FLOWS, Command

#: A greedy flow, one that its application limits, one over UDP, a transfer.
MIXED = (
    TWO_FLOWS.replace('duration = "3 s"', 'duration = "40 s"')
    + """
traffic = { kind = "cbr", rate = "200 kbit/s" }

[[flows]]
transport = "udp"
rtt = "20 ms"
traffic = { kind = "cbr", rate = "400 kbit/s", size = "500 B" }

[[flows]]
cca = "cubic"
rtt = "20 ms"
traffic = { kind = "sized", size = "1 MB" }
"""
)
GREEDY, LIMITED, UDP, TRANSFER = map(str, range(4))
#: Of which flows each metric is defined.
DEFINED = {
    "flow_completion_time_l4": {TRANSFER},
    "active_time_l4": {GREEDY, LIMITED, UDP, TRANSFER},
    "convergence_time_l4": {GREEDY},
    "stability_l4": {GREEDY},
    "mean_cwnd_l4": {GREEDY, LIMITED, TRANSFER},
    "mean_in_flight_l4": {GREEDY, LIMITED, TRANSFER},
    "total_rtos_l4": {GREEDY, LIMITED, TRANSFER},
    "mean_throughput_l4": {GREEDY, LIMITED, UDP, TRANSFER},
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mixed") / "mixed.toml"
    path.write_text(MIXED)
    return path


def test_json_has_null(called: Command, mixed: Path) -> None:
    flows = json.loads(called("run", mixed, "--format", "json", "--no-figures").stdout)["flows"]
    for metric, flows_with in DEFINED.items():
        values = {str(flow["id"]): flow["metrics"][metric] for flow in flows}
        assert {i for i, value in values.items() if value is not None} == flows_with, metric
    # IPv4, UDP and Ethernet headers; nothing is lost, and nothing comes back.
    udp = flows[int(UDP)]["metrics"]
    assert udp["on_wire_bytes_l1"] == pytest.approx(
        40 * 400e3 / 8 / 500 * (500 + 28 + 14), rel=0.01
    )


def test_csv_is_empty(called: Command, mixed: Path) -> None:
    printed = called("run", mixed, "--format", "csv", "--no-figures").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    for metric, flows in DEFINED.items():
        values = {
            r["id"]: r["value"] for r in rows if (r["scope"], r["metric"]) == ("flow", metric)
        }
        assert {i for i, value in values.items() if value} == flows, metric


def test_parquet_has_null(called: Command, mixed: Path, tmp_path: Path) -> None:
    assert called("run", mixed, "--no-figures", "--out", "out").returncode == 0
    table = pl.read_parquet(tmp_path / "out" / "metrics_flows.parquet")
    for metric, flows in DEFINED.items():
        defined = table.filter(pl.col(metric).is_not_null())["id"]
        assert {str(i) for i in defined} == flows, metric
        assert not table[metric].cast(pl.Float64).is_nan().any()


def test_groups_and_the_network_are_members_of_a_sweep(called: Command, tmp_path: Path) -> None:
    grid = '[sweep]\nreplications = 2\n[sweep.grid]\n"flows.0.rtt" = ["10 ms", "20 ms"]\n'
    (tmp_path / "grid.toml").write_text(TWO_FLOWS + grid)
    metrics = ("--metrics", "mean_flow_srtt_l4,throughput_ratio_l4")
    done = called("sweep", "grid.toml", *metrics, "--out", "out")
    assert done.returncode == 0, done.stderr
    for told in ("network", "cca:reno", "cca:cubic"):
        assert told in done.stdout
    rows = pl.read_parquet(tmp_path / "out" / "runs" / "*.parquet", missing_columns="insert")
    groups = rows.filter(pl.col("scope") == "group")
    assert set(groups["id"]) == {"cca:reno", "cca:cubic"}
    ratios = groups.select("point", "id", "throughput_ratio_l4").pivot("id", index="point")
    product = ratios["cca:reno"] * ratios["cca:cubic"]
    assert (product - 1).abs().max() < 1e-9
