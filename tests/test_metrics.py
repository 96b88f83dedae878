"""Metrics by hand: the definitions, on columns small enough to compute on paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sojourn.metrics import RunData, compute, metrics
from sojourn.metrics.convergence import WINDOW
from sojourn.metrics.fairness import entropy, jain, product
from sojourn.metrics.limits import LIMITS

MSS = 1448


#: What a transport without window, feedback and retransmissions does not report.
WITHOUT_WINDOW = {
    *("acks_sent", "ack_bytes_sent", "retransmissions", "spurious_retransmissions", "rtos"),
    *("probe_retransmissions", "lost", "recoveries", "recovery_time", "cwnd_time"),
    *("in_flight_time", "srtt_time", "srtt_known", "rtt_sum", "rtt_count"),
    *("delivery_rate_sum", "delivery_rate_count", *(f"limited_by_{limit}" for limit in LIMITS)),
}


def run_of(
    delivered: Sequence[Sequence[float]],
    *,
    interval: float = 0.1,
    warmup: str = "0 s",
    start: Sequence[float] | None = None,
    stop: Sequence[float] | None = None,
    completed: Sequence[float] | None = None,
    traffic: str = "greedy",
    transport: str = "tcp",
    alone: Sequence[RunData] = (),
    **columns: Any,
) -> RunData:
    """A run over one 10 Mbit/s link from bytes delivered per interval (row) and flow (column)."""
    matrix = np.asarray(delivered, dtype=float)
    intervals, flows = matrix.shape
    ends = np.round(np.arange(1, intervals + 1) * interval, 9)
    zeros = np.zeros(intervals * flows)
    names = [
        *("in_order_bytes", "sent_bytes", "written_bytes", "wire_bytes_sent", "ack_bytes_sent"),
        *("sent_packets", "acks_sent", "retransmissions", "spurious_retransmissions", "rtos"),
        *(
            "probe_retransmissions",
            "lost",
            "recoveries",
            "recovery_time",
            "cwnd_time",
            "in_flight_time",
            "srtt_time",
        ),
        *("srtt_known", "rtt_sum", "rtt_count", "delivery_rate_sum", "delivery_rate_count"),
        *(f"limited_by_{limit}" for limit in LIMITS),
        *("delivered_packets", "one_way_delay_sum", "one_way_delay_count", "idt_ewma"),
        *("first_control_packets", "controlled_packets", "usable_messages", "received_packets"),
        *("late_messages", "delay_p995", "arq_groups", "coded_groups", "fec_groups"),
        "peer_outage_time",
        *("acks_received", "ack_blocks", "send_gap_sum", "send_gap_count"),
    ]
    absent = set() if transport == "tcp" else WITHOUT_WINDOW
    samples = {name: zeros * np.nan if name in absent else zeros for name in names} | {
        "time": np.repeat(ends, flows),
        "flow": np.tile(np.arange(flows), intervals),
        "delivered_bytes": matrix.ravel(),
    }
    samples |= {n: np.asarray(c, dtype=float).ravel() for n, c in columns.items()}
    facts = {
        "flow": np.arange(flows),
        "base_rtt": np.full(flows, 0.02),
        "mss": np.full(flows, MSS),
        "full_packet": np.full(flows, MSS + 52),
        "start": np.array(start or [0.0] * flows),
        "stop": np.array(stop or [ends[-1]] * flows),
        "established_at": np.array(start or [0.0] * flows),
        "completed_at": np.array(completed or [np.nan] * flows),
        "rtt_p50": np.full(flows, 0.025),
        "rtt_p95": np.full(flows, 0.03),
    }
    link_names = ("sent_bytes", "sojourn_sum", "sojourn_count", "queue_time", "drops_overflow")
    link_names += ("airtime", "attempts", "collisions", "failed", "mpdus", "retries")
    link_names += ("drops_aqm", "drops_policed", "drops_loss", "ce_marks", "sce_marks")
    link_samples = {name: np.arange(1.0, intervals + 1) for name in link_names} | {"time": ends}
    links = {"link": np.arange(1)} | {f"sojourn_p{p}": np.array([p * 1e-3]) for p in (50, 95, 99)}
    flow = {"traffic": {"kind": traffic}, "transport": transport, "cca": {"kind": "reno"}}
    return RunData(
        {"warmup": warmup, "flows": [flow] * flows},
        {"flow_samples": samples, "flows": facts, "link_samples": link_samples, "links": links},
        {
            "links": [{"id": "bottleneck", "rate": "10 Mbit/s", "overhead": "14 B"}],
            "paths": [[0]] * flows,
        },
        lambda flows: (alone[flows[0]], [0]),
    )


def of(run: RunData, scope: str, name: str) -> list[float]:
    return list(compute(run, scope, [name])[name])  # type: ignore[arg-type]


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


def test_convergence_of_fairness_counts_bytes_since_the_last_entry() -> None:
    # After the entry at 1 s: 9 and 1 in the first interval, 1 and 9 in the second, even sums.
    run = run_of([[50, 0], [9, 1], [1, 9], [5, 5]], interval=1.0, start=[0.0, 1.0])
    assert of(run, "net", "convergence_time_jain_l4") == pytest.approx([2.0])
    assert np.isnan(of(run_of([[1]]), "net", "convergence_time_jain_l4")).all()


def test_convergence_past_the_first_hundred_packets() -> None:
    # Even at once; the second flow has delivered its 100th packet after three of its samples.
    packets = [[40, 0], [40, 40], [40, 40], [40, 40], [40, 40]]
    delivered = MSS * np.array(packets)
    run = run_of(delivered, start=[0, 0.1], delivered_packets=packets)
    assert of(run, "net", "convergence_time_jain_l4") == pytest.approx([0.1])
    assert of(run, "net", "convergence_time_jain_past_100_l4") == pytest.approx([0.3])
    short = run_of(delivered[:3], start=[0, 0.1], delivered_packets=packets[:3])
    assert np.isnan(of(short, "net", "convergence_time_jain_past_100_l4")).all()


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
