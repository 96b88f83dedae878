"""CCPerf's experiments: which file, over which paths, judged by what."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import data
from sojourn.scenario import Document, Scenario, read, validated

#: The flows under test are those with this label.
TESTED = "tested"
_FOLDER = "experiments/ccperf"
_STATIC = ("default", "india-aws", "korea-china", "california-mexico", "winds")
_TRACED = ("nepal-aws", "mexico-cellular", "brazil-cellular")

#: Scope and name of what is judged, for flows as the mean over those under test.
Measure = tuple[str, str]
_ONE: tuple[Measure, ...] = (
    ("flow", "mean_throughput_l4"),
    ("flow", "cov_throughput_l4"),
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
_BESIDE: tuple[Measure, ...] = (("group", "throughput_share_l4"), *_ONE)
_RESPONSE: tuple[Measure, ...] = (("net", "mean_response_time_l4"), *_ONE)


@dataclass(frozen=True)
class Experiment:
    """One file of the suite."""

    name: str
    title: str
    measures: Sequence[Measure]
    #: The paths it runs over, the first one only if quick; its own network if none.
    paths: Sequence[str] = ()

    def cases(self, *, quick: bool) -> Iterator[tuple[str, Scenario]]:
        """The paths and the scenario over each. Quick keeps the first path, and the first and the
        last value of the grid.
        """
        document = read(data.path(f"{_FOLDER}/{self.name}.toml"))
        if quick:
            grid = document["sweep"].get("grid", {})
            document["sweep"]["grid"] = {
                axis: values[:: max(1, len(values) - 1)] for axis, values in grid.items()
            }
        for path in (self.paths[:1] if quick else self.paths) or ("default",):
            yield path, validated(_over(document, path) if self.paths else document)


def _over(document: Document, path: str) -> Document:
    """The experiment with a path's network and base RTT."""
    along = read(data.path(f"{_FOLDER}/paths/{path}.toml"))
    moved = copy.deepcopy(document)
    moved["topology"] = along["topology"]
    for flow in moved["flows"]:
        flow["rtt"] = along["flows"][0]["rtt"]
    return moved


def with_control(scenario: Scenario, control: Any) -> Scenario:
    """The scenario with the flows under test using a control."""
    document = copy.deepcopy(scenario.document)
    for flow in document["flows"]:
        if flow.get("label") == TESTED:
            flow["cca"] = copy.deepcopy(control)
    return validated({**document, "sweep": scenario.sweep})


SUITE = (
    Experiment("single-flow", "Steady state of one flow", _ONE, _STATIC),
    Experiment("synchronous-fairness", "Flows that start together", _SHARING),
    Experiment(
        "start-time-fairness",
        "Flows that start one after the other",
        (*_SHARING, ("net", "convergence_time_jain_l4")),
    ),
    Experiment(
        "rtt-fairness",
        "Flows of different base RTTs",
        (("net", "rtt_fairness_slope_l4"), *_SHARING),
    ),
    Experiment("step", "A rate that steps up or down", _RESPONSE),
    Experiment("pulse-wave", "A rate that alternates", _RESPONSE),
    Experiment("replayed-trace", "A rate replayed from a trace", _ONE, _TRACED),
    Experiment("random-walk", "A rate that walks at random", _ONE),
    Experiment(
        "friendliness",
        "Beside as many Cubic flows",
        (("group", "throughput_share_l4"), *_SHARING),
    ),
    Experiment("on-off", "Beside TCP that comes and goes", _BESIDE),
    Experiment("udp", "Beside UDP", _BESIDE),
)
