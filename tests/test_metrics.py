"""Metrics by hand: the definitions, on columns small enough to compute on paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from made_runs import MSS, of, run_of
from sojourn.metrics import compute, metrics
from sojourn.metrics.convergence import WINDOW
from sojourn.metrics.limits import LIMITS


def test_every_metric_is_declared_and_computed() -> None:
    run = run_of([[1e4, 2e4]] * 5, alone=[run_of([[2e4]] * 5)] * 2)
    names = {m.name for m in metrics()}
    for scope, count in (("flow", 2), ("link", 1), ("net", 1), ("group", 1)):
        declared = list(metrics(scope))  # type: ignore[arg-type]
        values = compute(run, scope, {m.name for m in declared})  # type: ignore[arg-type]
        assert list(values) == [m.name for m in declared]
        assert all(vector.shape == (count,) for vector in values.values())
        for m in declared:
            assert m.summary.endswith("."), m.name
            assert all((m.quantity, m.unit, m.aggregator, m.sampling, m.empty))
    assert len(names) > 60


def test_throughput_and_its_variation() -> None:
    run = run_of([[12_500], [25_000], [37_500]])  # 1, 2 and 3 Mbit/s
    assert of(run, "flow", "mean_throughput_l4") == pytest.approx([2.0])
    assert of(run, "flow", "cov_throughput_l4") == pytest.approx([math.sqrt(2 / 3) / 2])
    assert of(run, "flow", "mean_utilization_bw_l4") == pytest.approx([0.2])


def test_utilities_are_means_over_samples_and_leave_out_empty_ones() -> None:
    run = run_of([[12_500], [0], [50_000]])  # 1, 0 and 4 Mbit/s
    assert of(run, "flow", "mean_utility_pf_l4") == pytest.approx([math.log(4) / 2])
    assert of(run, "flow", "mean_utility_mpdf_l4") == pytest.approx([-(1 + 1 / 4) / 2])
    assert of(run, "flow", "empty_samples") == [1]
    assert of(run, "flow", "mean_throughput_l4") == pytest.approx([5 / 3])


def test_a_flow_that_delivers_nothing_has_undefined_utility() -> None:
    run = run_of([[0], [0]])
    assert np.isnan(of(run, "flow", "mean_utility_pf_l4")).all()
    assert np.isnan(of(run, "flow", "cov_throughput_l4")).all()
    assert np.isnan(of(run, "net", "mean_jains_fairness_throughput_l4")).all()
    assert of(run, "flow", "empty_samples") == [2]


def test_metrics_cover_max_of_start_and_warmup_to_stop() -> None:
    delivered = [[10_000, 0], [10_000, 5_000], [10_000, 10_000], [10_000, 10_000], [0, 10_000]]
    run = run_of(delivered, warmup="100 ms", start=[0.0, 0.15], stop=[0.4, 0.5])
    # The first flow: 0.1 to 0.4 s, 30 kB. The second: 0.15 to 0.5 s, 35 kB.
    assert of(run, "flow", "mean_throughput_l4") == pytest.approx([0.8, 0.8])
    assert of(run, "flow", "active_time_l4") == pytest.approx([0.4, 0.35])
    # Together 65 kB from 0.1 to 0.5 s.
    assert of(run, "net", "mean_agg_throughput_l4") == pytest.approx([1.3])


def test_a_transfer_ends_with_its_completion() -> None:
    run = run_of([[10_000], [5_000], [0]], completed=[0.15], traffic="sized")
    assert of(run, "flow", "flow_completion_time_l4") == pytest.approx([0.15])
    assert of(run, "flow", "active_time_l4") == pytest.approx([0.15])
    assert of(run, "flow", "mean_throughput_l4") == pytest.approx([15_000 * 8e-6 / 0.15])
    unfinished = run_of([[10_000], [5_000], [0]], traffic="sized")
    assert np.isnan(of(unfinished, "flow", "flow_completion_time_l4")).all()


def test_time_weighted_means() -> None:
    run = run_of(
        [[1], [1]],
        cwnd_time=[1.0, 3.0],
        in_flight_time=[1.0, 2.0],
        srtt_time=[0.002, 0.001],
        srtt_known=[0.1, 0.02],
    )
    assert of(run, "flow", "mean_cwnd_l4") == pytest.approx([20])
    assert of(run, "flow", "mean_in_flight_l4") == pytest.approx([15])
    assert of(run, "flow", "cov_in_flight_l4") == pytest.approx([5 / 15])
    assert of(run, "flow", "mean_srtt_l4") == pytest.approx([25.0])
    assert of(run, "flow", "mean_est_qdelay_l4") == pytest.approx([5.0])


def test_network_power_is_a_mean_over_samples() -> None:
    srtt = {"srtt_time": [0.002, 0.004], "srtt_known": [0.1, 0.1]}  # 20 and 40 ms
    run = run_of([[12_500], [50_000]], **srtt)
    assert of(run, "flow", "mean_network_power_l4") == pytest.approx([(1 / 0.02 + 4 / 0.04) / 2])


def test_both_readings_of_the_bandwidth_delay_product() -> None:
    run = run_of([[1], [1]], in_flight_time=[2.0, 2.0])
    packet = MSS + 52 + 14
    bdp = 10e6 * 0.02 / (8 * packet)
    assert of(run, "flow", "mean_utilization_bdp_l4") == pytest.approx([20 / bdp])
    goodput = 20 / (bdp * MSS / packet)
    assert of(run, "flow", "mean_utilization_bdp_goodput_l4") == pytest.approx([goodput])
    assert of(run, "net", "mean_agg_utilization_bdp_l4") == pytest.approx([20 / bdp])


def test_ratios_without_a_denominator_are_undefined() -> None:
    run = run_of([[1], [1]])
    for name in ("mean_recovery_time_l4", "retransmissions_per_packet_lost_l4", "mean_srtt_l4"):
        assert np.isnan(of(run, "flow", name)).all()
    assert of(run, "flow", "total_rtos_l4") == [0]


def test_what_has_no_last_byte_has_no_completion_time() -> None:
    greedy = run_of([[10_000], [5_000]], stop=[0.15])
    assert np.isnan(of(greedy, "flow", "flow_completion_time_l4")).all()
    assert of(greedy, "flow", "active_time_l4") == pytest.approx([0.15])


def test_udp_has_no_window_and_nothing_that_follows_from_one() -> None:
    sent = {"wire_bytes_sent": [500.0] * 400, "sent_packets": [4.0] * 400}
    run = run_of([[400]] * 400, transport="udp", traffic="cbr", **sent)
    values = compute(run, "flow")
    undefined = {name for name, value in values.items() if np.isnan(value).all()}
    assert undefined == {
        *("mean_cwnd_l4", "mean_in_flight_l4", "cov_in_flight_l4", "mean_utilization_bdp_l4"),
        *("mean_utilization_bdp_goodput_l4", "mean_delivery_rate_l4", "mean_srtt_l4"),
        *("mean_rtt_l4", "mean_est_qdelay_l4", "mean_one_way_delay_l7", "mean_network_power_l4"),
        *("first_control_share_l4", "error_control_efficiency_l4", "late_messages_l7"),
        *("pure_arq_share_l4", "pure_fec_share_l4"),
        *("acks_per_block_l4", "mean_send_interval_l4"),
        *("mean_recovery_time_l4", "total_retransmissions_l4", "total_rtos_l4"),
        *("total_spurious_retransmissions_l4", "retransmissions_per_second_l4"),
        *("retransmissions_per_packet_sent_l4", "retransmissions_per_packet_lost_l4"),
        *("flow_completion_time_l4", "convergence_time_l4", "stability_l4", "filling_time_l4"),
        *(f"limited_by_{limit}_l4" for limit in LIMITS),
        # As on a kernel: this run's receiver has measured no packets.
        *(f"p{p}_one_way_delay_{layer}" for p in (50, 95, 99) for layer in ("l4", "l7")),
        *("mean_jitter_l4", "packet_loss_l4"),
        *("total_loss_runs_l4", "mean_loss_run_l4", "max_loss_run_l4"),
    }
    assert run.flow.wire_size == pytest.approx([125 + 14])
    assert np.isnan(of(run, "net", "mean_agg_in_flight_l4")).all()


def test_an_application_limited_flow_has_no_convergence() -> None:
    cwnd = {"cwnd_time": [10.0] * 60}
    waits = {"limited_by_application": [0.25] * 60}
    trickle = run_of([[1000]] * 60, interval=1.0, traffic="cbr", **waits, **cwnd)
    assert trickle.flow.application_limited == pytest.approx([0.25])
    for name in ("convergence_time_l4", "stability_l4", "filling_time_l4"):
        assert np.isnan(of(trickle, "flow", name)).all()
    greedy = run_of([[1000]] * 60, interval=1.0, **cwnd)
    assert of(greedy, "flow", "stability_l4") == pytest.approx([0])


def test_better_is_defined_only_for_what_is_better() -> None:
    better = {(m.scope, m.name): m.better for m in metrics()}
    assert better["flow", "mean_throughput_l4"] == better["link", "utilization_l1"] == "higher"
    assert better["flow", "mean_srtt_l4"] == better["flow", "flow_completion_time_l4"] == "lower"
    assert better["net", "mean_jains_fairness_throughput_l4"] == "higher"
    for name in ("active_time_l4", "mean_cwnd_l4", "on_wire_bytes_l1", "mean_in_flight_l4"):
        assert better["flow", name] is None


def test_bytes_on_the_wire_count_headers_both_ways() -> None:
    columns = {"wire_bytes_sent": [1500], "sent_packets": [1], "ack_bytes_sent": [52]}
    run = run_of([[1448]], **columns, acks_sent=[1])
    assert of(run, "flow", "on_wire_bytes_l1") == [1500 + 52 + 28]


def test_link_metrics() -> None:
    run = run_of([[1], [1], [1], [1]], warmup="200 ms")  # counters 3 + 4 after the warm-up
    assert of(run, "link", "mean_sending_rate_l1") == pytest.approx([7 * 8e-6 / 0.2])
    assert of(run, "link", "utilization_l1") == pytest.approx([7 * 8 / 0.2 / 10e6])
    assert of(run, "link", "mean_qdisc_delay_l2") == pytest.approx([1000.0])
    assert of(run, "link", "mean_qdisc_length_l2") == pytest.approx([7 / 0.2])
    assert of(run, "link", "p95_qdisc_delay_l2") == pytest.approx([95.0])
    assert of(run, "link", "total_qdisc_drops_l2") == [21]
    assert of(run, "link", "total_qdisc_drops_aqm_l2") == [7]
    assert of(run, "link", "total_qdisc_marks_l2") == [14]


def test_convergence_of_cwnd() -> None:
    # 10 segments for 40 s, then 20: mu falls within 20 % of its mean when the window has filled.
    cwnd = [10.0] * 40 + [20.0] * 60
    run = run_of([[1]] * 100, interval=1.0, cwnd_time=cwnd)
    mu = np.array([np.mean(cwnd[end - 30 : end]) for end in range(30, 101)])
    inside = np.flatnonzero(abs(mu - mu.mean()) <= 0.2 * mu.mean())
    assert of(run, "flow", "convergence_time_l4") == pytest.approx([30 + inside[0]])
    rms = math.sqrt(((mu[inside[0] :] - mu.mean()) ** 2).mean())
    assert of(run, "flow", "stability_l4") == pytest.approx([rms])
    short = run_of([[1]] * 20, interval=1.0, cwnd_time=cwnd[:20])
    assert WINDOW == 30
    assert np.isnan(of(short, "flow", "convergence_time_l4")).all()


def test_convergence_past_the_first_hundred_packets() -> None:
    # Even at once; the second flow has delivered its 100th packet after three of its samples.
    packets = [[40, 0], [40, 40], [40, 40], [40, 40], [40, 40]]
    delivered = MSS * np.array(packets)
    run = run_of(delivered, start=[0, 0.1], delivered_packets=packets)
    assert of(run, "net", "convergence_time_jain_l4") == pytest.approx([0.1])
    assert of(run, "net", "convergence_time_jain_past_100_l4") == pytest.approx([0.3])
    short = run_of(delivered[:3], start=[0, 0.1], delivered_packets=packets[:3])
    assert np.isnan(of(short, "net", "convergence_time_jain_past_100_l4")).all()


@given(arrays(float, (6, 2), elements=st.floats(0, 1e6)))
def test_means_and_sums_agree(delivered: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    run = run_of(delivered.tolist())
    total = sum(of(run, "flow", "mean_throughput_l4"))
    assert of(run, "net", "mean_agg_throughput_l4") == pytest.approx([total])


def test_what_limits_a_sender_is_a_share_of_its_time() -> None:
    run = run_of(
        [[1.0, 1.0], [1.0, 1.0]],
        limited_by_cwnd=[[0.02, 0.0], [0.02, 0.0]],
        limited_by_receiver=[[0.06, 0.0], [0.02, 0.0]],
        limited_by_application=[[0.01, 0.0], [0.03, 0.0]],
    )
    shares = {limit: of(run, "flow", f"limited_by_{limit}_l4") for limit in LIMITS}
    of_first = {limit: values[0] for limit, values in shares.items()}
    assert of_first == pytest.approx(
        {"cwnd": 25, "pacing": 0, "receiver": 50, "send_buffer": 0, "application": 25}
    )
    assert all(math.isnan(values[1]) for values in shares.values()), "without time no shares"
