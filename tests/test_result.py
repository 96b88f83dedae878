"""The Python interface, and results on disk."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn
from conftest import TWO_FLOWS
from sojourn.scenario import read
from sojourn.store import manifest, run_directory


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(TWO_FLOWS)


def test_frames_have_one_row_per_entity(result: sojourn.Result) -> None:
    assert result.flows["id"].to_list() == [0, 1]
    assert result.flows["cca"].to_list() == ["reno", "cubic"]
    assert result.links["id"][0] == "bottleneck"
    assert result.net.height == 1
    assert result.series.flows.height == 2 * 30
    assert {"time", "flow", "delivered_bytes", "cwnd"} <= set(result.series.flows.columns)


def test_the_link_carries_at_most_its_rate(result: sojourn.Result) -> None:
    samples = result.series.links.filter(pl.col("link") == 0)
    bits = 8 * samples["sent_bytes"].to_numpy()
    packet = 8 * (1448 + 52 + 14)
    assert (bits <= 8e6 * 0.1 + packet).all()
    assert result.links["utilization_l1"][0] <= 1.0


def test_what_is_delivered_was_sent(result: sojourn.Result) -> None:
    for row in result.series.flows.group_by("flow").sum().to_dicts():
        assert row["delivered_bytes"] <= row["sent_bytes"]
        assert row["in_order_bytes"] <= row["delivered_bytes"]


def test_queueing_delay_is_bounded_by_the_queue(result: sojourn.Result) -> None:
    longest = 20 * (1448 + 52 + 14) * 8 / 8e6 * 1e3
    assert 0 < result.links["mean_qdisc_delay_l2"][0] < longest


def test_plot_draws_a_registered_figure(result: sojourn.Result) -> None:
    assert len(result.plot().axes) == 3
    with pytest.raises(sojourn.ScenarioError, match="did you mean 'ecdf'"):
        result.plot("ecd")


def test_repeated_runs_are_bit_identical(result: sojourn.Result) -> None:
    again = sojourn.run(TWO_FLOWS)
    assert again.series.flows.equals(result.series.flows, null_equal=True)
    assert again.series.links.equals(result.series.links, null_equal=True)


def test_adding_a_flow_changes_no_other_flows_draws() -> None:
    """With random loss and ample capacity, a flow loses the same packets whoever else is there."""
    document = read(TWO_FLOWS)
    document["topology"]["bottleneck"] |= {"rate": "1 Gbit/s", "loss": "1 %"}
    document["topology"]["bottleneck"]["queue"] = {"kind": "fifo", "limit": "1000 packets"}
    document["flows"][0] |= {"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}}
    alone = copy.deepcopy(document)
    alone["flows"] = alone["flows"][:1]
    document["flows"][1] |= {"traffic": {"kind": "cbr", "rate": "1 Mbit/s"}, "start": "1 s"}
    losses = []
    for case in (alone, document):
        samples = sojourn.run(case).series.flows.filter(pl.col("flow") == 0)
        losses.append(samples["retransmissions"].to_numpy())
    assert losses[0].sum() > 0
    np.testing.assert_array_equal(*losses)


def test_a_run_reads_back_from_disk(result: sojourn.Result, tmp_path: Path) -> None:
    run_directory.save(result, tmp_path)
    read_back = run_directory.load(tmp_path)
    assert read_back.to_json() == result.to_json()
    flows = pl.read_parquet(tmp_path / "metrics_flows.parquet")
    assert flows.equals(result.flows)


def test_later_formats_are_refused_and_older_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / manifest.FILE
    path.write_text(json.dumps({"format": manifest.FORMAT + 1, "kind": "run"}))
    with pytest.raises(sojourn.SojournError, match="later version"):
        manifest.read(tmp_path)
    path.write_text(json.dumps({"format": 0, "kind": "old"}))
    with pytest.raises(sojourn.SojournError, match="format 0, which this version no longer reads"):
        manifest.read(tmp_path)
    steps = dict.fromkeys(range(manifest.FORMAT), lambda _, content: {**content, "kind": "own"})
    monkeypatch.setattr(manifest, "MIGRATIONS", steps)
    assert manifest.read(tmp_path) == {"format": manifest.FORMAT, "kind": "own"}
    assert json.loads(path.read_text())["format"] == manifest.FORMAT


def test_damaged_results_are_named(result: sojourn.Result, tmp_path: Path) -> None:
    run_directory.save(result, tmp_path)
    (tmp_path / "flow_samples.parquet").write_bytes(b"nonsense")
    with pytest.raises(sojourn.SojournError, match=r"flow_samples\.parquet: is damaged"):
        run_directory.load(tmp_path)
    (tmp_path / manifest.FILE).write_text("{")
    with pytest.raises(sojourn.SojournError, match="is damaged"):
        run_directory.load(tmp_path)


def test_what_is_stored_does_not_hang_on_what_is_shown(tmp_path: Path) -> None:
    shown = sojourn.run(TWO_FLOWS, metrics=["mean_throughput_l4", "harm_throughput_l4"])
    assert list(shown.to_json()["net"]["metrics"]) == ["harm_throughput_l4"]
    assert sojourn.run(TWO_FLOWS, metrics=["mean_srtt_l4"]).to_json()["net"] == {"metrics": {}}
    assert shown.flows.columns[3:] == ["mean_throughput_l4", "harm_throughput_l4"]
    run_directory.save(shown, tmp_path)
    stored = pl.read_parquet(tmp_path / "metrics_flows.parquet")
    assert {"mean_srtt_l4", "harm_throughput_l4"} < set(stored.columns)
    assert "harm_delay_l4" not in stored.columns
    assert pl.read_parquet(tmp_path / "metrics_net.parquet").width > 5
