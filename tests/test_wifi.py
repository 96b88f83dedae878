"""Wi-Fi against closed forms, and what its metrics say."""

from __future__ import annotations

from itertools import pairwise

import pytest

import sojourn
from sojourn import data, figures
from tools.pages import wifi_figures, wifi_ns3
from tools.pages.wifi import Oracle, oracles
from tools.pages.wifi_figures import results


@pytest.mark.parametrize("oracle", oracles(counts=(2, 10), seconds=3.0), ids=lambda o: o.name)
def test_goodput_is_that_of_the_closed_form(oracle: Oracle) -> None:
    assert oracle.measured() == pytest.approx(oracle.expected, rel=oracle.within)


def test_airtime_fairness_repairs_the_rate_anomaly() -> None:
    rows = {(row["turns"], row["station"]): row for row in wifi_figures.rows(results("5 s"))}
    fast, slow = (rows["by frames", station] for station in ("fast", "slow"))
    assert fast["goodput"] == pytest.approx(slow["goodput"], rel=0.1), "all like the slow"
    assert rows["by airtime", "fast"]["goodput"] > 4 * fast["goodput"]
    assert rows["by airtime", "slow"]["airtime"] < 0.4 < slow["airtime"]


@pytest.mark.parametrize("row", list(wifi_ns3.published()), ids=lambda row: row.name)
def test_goodput_is_near_that_of_ns3(row: wifi_ns3.Published) -> None:
    assert wifi_ns3.measured(row) == pytest.approx(row.goodput, rel=0.03)


def test_channels_have_metrics_of_the_air_and_other_links_none() -> None:
    result = sojourn.run(
        data.path("experiments/lin2020/wifi-2.4.toml"), overrides=['duration="3 s"']
    )
    links = {row["id"]: row for row in result.links.to_dicts()}
    held = links["wlan_a"]["airtime_l1"] + links["wlan_b"]["airtime_l1"]
    assert 0.3 < held < 1.1, "of both, collisions counted twice"
    assert max(links[name]["mean_aggregate_size_l1"] for name in ("wlan_a", "wlan_b")) > 10
    assert links["ethernet"]["airtime_l1"] is None
    flow = result.flows.to_dicts()[0]
    assert flow["acks_per_block_l4"] > 1
    assert flow["ack_block_rate_l4"] > 50


def test_who_holds_the_air_is_drawn_where_queues_are_recorded() -> None:
    short = ['duration="3 s"', 'record=["queue"]']
    result = sojourn.run(data.path("experiments/lin2020/wifi-2.4.toml"), overrides=short)
    (panel,) = figures.chart("air", result).panels
    alone, *others = panel.spans
    assert list(alone.names) == ["a to ap", "ap to a", "ap to b", "b to ap"]
    assert max(alone.ends) <= 20 + 1e-6
    assert all(start < end for start, end in zip(alone.starts, alone.ends, strict=True))
    # Only one station at a time, and in a collision several.
    ordered = sorted(zip(alone.starts, alone.ends, strict=True))
    assert all(end <= start for (_, end), (start, _) in pairwise(ordered))
    assert all(len(set(of.starts)) < len(list(of.starts)) for of in others)
    assert "medium" not in str(figures.chart("queue", result).panels)
