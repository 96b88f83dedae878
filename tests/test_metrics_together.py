"""Metrics of flows together, by hand: fairness, groups, shares, harm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from made_runs import of, run_of
from sojourn.metrics import compute
from sojourn.metrics.fairness import entropy, jain, product


def test_fairness_per_sample_and_of_means_differ() -> None:
    run = run_of([[12_500, 37_500], [37_500, 12_500]])  # 1 and 3, then 3 and 1 Mbit/s
    each = 16 / (2 * 10)
    assert of(run, "net", "mean_jains_fairness_throughput_l4") == pytest.approx([each])
    assert of(run, "net", "jains_fairness_of_means_throughput_l4") == pytest.approx([1.0])
    assert of(run, "net", "mean_product_fairness_throughput_l4") == pytest.approx([3.0])
    assert of(run, "net", "product_fairness_of_means_throughput_l4") == pytest.approx([4.0])
    nats = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert of(run, "net", "mean_entropy_fairness_throughput_l4") == pytest.approx([nats])
    means = of(run, "net", "entropy_fairness_of_means_throughput_l4")
    assert means == pytest.approx([math.log(2)])


def test_fairness_leaves_out_samples_of_a_lone_flow() -> None:
    run = run_of([[12_500, 0], [37_500, 12_500]], start=[0.0, 0.1])
    assert of(run, "net", "mean_jains_fairness_throughput_l4") == pytest.approx([0.8])


def test_sums_of_utility() -> None:
    run = run_of([[12_500, 25_000], [12_500, 0]])
    assert of(run, "net", "mean_agg_utility_pf_l4") == pytest.approx([math.log(2)])
    assert of(run, "net", "mean_agg_utility_mpdf_l4") == pytest.approx([-1.5])
    assert of(run, "net", "empty_samples") == [1]


def test_groups_are_of_controls_and_of_labels() -> None:
    srtt = {"srtt_time": [0.002, 0.004, 0.006], "srtt_known": [0.1, 0.1, 0.1]}
    resent = {"retransmissions": [np.nan] * 3}
    run = run_of([[12_500, 25_000, 37_500]], **resent, **srtt)  # 1, 2, 3 Mbit/s
    flows = [{"cca": {"kind": "reno"}, "label": "old"}, {"cca": {"kind": "reno"}}, {"cca": None}]
    declared = [{**flow, "transport": "udp", "traffic": {"kind": "cbr"}} for flow in flows]
    run.scenario = {"warmup": "0 s", "flows": declared}
    assert run.group.ids == ["cca:reno", "cca:udp", "label:old"]
    values = {name: list(vector) for name, vector in compute(run, "group").items()}
    assert values["flows_in_group"] == [2, 1, 1]
    assert values["sum_throughput_l4"] == pytest.approx([3, 3, 1])
    assert values["mean_flow_throughput_l4"] == pytest.approx([1.5, 3, 1])
    assert values["throughput_share_l4"] == pytest.approx([1 / 2, 1 / 2, 1 / 6])
    assert values["throughput_ratio_l4"] == pytest.approx([1.5 / 3, 3 / 1.5, 1 / 2.5])
    assert values["mean_flow_srtt_l4"] == pytest.approx([30, 60, 20])
    assert np.isnan(values["sum_retransmissions_l4"]).all()
    run.tables["flow_samples"]["retransmissions"] = np.array([1, 2, np.nan])  # type: ignore[index]
    del run.flow
    retransmissions = of(run, "group", "sum_retransmissions_l4")
    assert retransmissions[::2] == [3, 1]
    assert np.isnan(retransmissions[1])
    assert of(run, "net", "mean_flow_srtt_l4") == pytest.approx([40])


def test_the_share_of_the_bottleneck_is_of_the_time_together() -> None:
    run = run_of([[300, 0, 100], [300, 300, 100], [300, 300, 100]], start=[0, 0.1, 0])
    run.network = {
        "links": [
            {"id": "fast", "rate": "1 Gbit/s", "overhead": None},
            {"id": "slow", "rate": "1 Mbit/s", "overhead": None},
        ],
        "paths": [[0, 1], [1], [0]],
    }
    # The first two share the slow link for two of three samples; the third meets neither there,
    # and on the fast link, its bottleneck, the first.
    shares = [900 / 1500, 600 / 1200, 300 / 1200]
    assert of(run, "flow", "bottleneck_share_l4") == pytest.approx(shares)
    fresh = run_of([[300]])
    fresh.network = {"links": [], "paths": [[]]}
    assert np.isnan(of(fresh, "flow", "bottleneck_share_l4")).all()


def test_harm_compares_with_each_flow_alone() -> None:
    srtt = {"srtt_time": [0.003, 0.003], "srtt_known": [0.1, 0.1]}
    single = run_of([[40_000]], srtt_time=[0.002], srtt_known=[0.1])
    run = run_of([[10_000, 30_000]], **srtt, alone=[single, single])
    assert of(run, "flow", "harm_throughput_l4") == pytest.approx([0.75, 0.25])
    assert of(run, "flow", "harm_delay_l4") == pytest.approx([1 / 3, 1 / 3])
    assert of(run, "net", "harm_throughput_l4") == pytest.approx([0.5])
    assert "harm_delay_l4" not in compute(run, "flow")


SHARES = arrays(float, (3, 4), elements=st.floats(0.001, 1e3))


@given(SHARES)
def test_laws_of_fairness(shares: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    index, nats = jain(shares), entropy(shares)
    assert ((index >= 1 / 4 - 1e-9) & (index <= 1 + 1e-9)).all()
    assert ((nats >= -1e-9) & (nats <= math.log(4) + 1e-9)).all()
    np.testing.assert_allclose(jain(shares * 7), index)
    np.testing.assert_allclose(entropy(shares * 7), nats, atol=1e-12)
    np.testing.assert_allclose(jain(shares[:, ::-1]), index)
    even = np.ones((1, 5))
    assert jain(even) == pytest.approx(1.0)
    assert entropy(even) == pytest.approx(math.log(5))
    np.testing.assert_allclose(product(shares), shares.prod(axis=1))


def test_convergence_of_fairness_counts_bytes_since_the_last_entry() -> None:
    # After the entry at 1 s: 9 and 1 in the first interval, 1 and 9 in the second, even sums.
    run = run_of([[50, 0], [9, 1], [1, 9], [5, 5]], interval=1.0, start=[0.0, 1.0])
    assert of(run, "net", "convergence_time_jain_l4") == pytest.approx([2.0])
    assert np.isnan(of(run_of([[1]]), "net", "convergence_time_jain_l4")).all()
