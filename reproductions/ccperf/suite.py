"""CCPerf's experiments as a suite for ``sojourn evaluate``: which file, over which paths, judged by
what.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sojourn.evaluation.suites.experiment import Experiment, Measure, Suite

_STATIC = ("default", "india-aws", "korea-china", "california-mexico", "winds")
_PARAMETERS = ("rate", "delay", "loss")
_TRACED = ("nepal-aws", "mexico-cellular", "brazil-cellular")

_ONE: tuple[Measure, ...] = (
    ("flow", "mean_throughput_l4"),
    ("flow", "cov_throughput_l4"),
    ("flow", "mean_srtt_l4"),
    ("flow", "mean_est_qdelay_l4"),
    ("flow", "p95_rtt_l4"),
    ("flow", "mean_network_power_l4"),
    ("flow", "total_retransmissions_l4"),
)
_SHARING: tuple[Measure, ...] = (
    ("net", "mean_agg_throughput_l4"),
    ("net", "mean_jains_fairness_throughput_1s_l4"),
    ("net", "jains_fairness_of_means_throughput_l4"),
    ("link", "mean_qdisc_delay_l2"),
    ("link", "total_qdisc_drops_l2"),
)
_HARM: tuple[Measure, ...] = (
    ("group", "group_harm_throughput_l4"),
    ("group", "group_harm_delay_l4"),
)
_BESIDE: tuple[Measure, ...] = (("group", "throughput_share_l4"), *_HARM, *_ONE)
# The queue is looked at itself: a propagation delay that changes is no queueing delay.
_RESPONSE: tuple[Measure, ...] = (
    ("net", "mean_response_time_l4"),
    *(measure for measure in _ONE if measure[1] != "mean_est_qdelay_l4"),
    ("link", "mean_qdisc_delay_l2"),
)
_experiment = partial(Experiment, Path(__file__).resolve().with_name("experiments"))

SUITE = Suite(
    "ccperf",
    "CCPerf's experiments",
    (
        _experiment("single-flow", "Steady state of one flow", _ONE, _STATIC, drawn=True),
        _experiment("synchronous-fairness", "Flows that start together", _SHARING),
        _experiment(
            "start-time-fairness",
            "Flows that start one after the other",
            (*_SHARING, ("net", "convergence_time_jain_l4")),
        ),
        _experiment(
            "rtt-fairness",
            "Flows of different base RTTs",
            (("net", "rtt_fairness_slope_l4"), *_SHARING),
        ),
        _experiment(
            "step", "A rate, delay or loss that steps up or down", _RESPONSE, parameters=_PARAMETERS
        ),
        _experiment(
            "pulse-wave", "A rate, delay or loss that alternates", _RESPONSE, parameters=_PARAMETERS
        ),
        _experiment("replayed-trace", "A rate replayed from a trace", _ONE, _TRACED, drawn=True),
        _experiment("random-walk", "A rate that walks at random", _ONE),
        _experiment(
            "friendliness",
            "Beside Cubic flows",
            (("group", "throughput_share_l4"), *_HARM, *_SHARING),
            flows=range(2, 17),
            competes=True,
        ),
        _experiment("on-off", "Beside TCP that comes and goes", _BESIDE, competes=True),
        _experiment("udp", "Beside UDP", _BESIDE),
    ),
)
