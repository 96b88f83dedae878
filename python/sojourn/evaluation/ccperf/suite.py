"""CCPerf's experiments: which file, over which paths, judged by what."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sojourn import data
from sojourn.json_types import Json
from sojourn.scenario import Document, Scenario, read, validated

Value = TypeVar("Value")
#: The flows under test are those with this label.
TESTED = "tested"
_FOLDER = "experiments/ccperf"
_STATIC = ("default", "india-aws", "korea-china", "california-mexico", "winds")
_PARAMETERS = ("rate", "delay", "loss")
_TRACED = ("nepal-aws", "mexico-cellular", "brazil-cellular")

#: Scope and name of what is judged, for flows as the mean over those under test; harm is that done
#: to the other flows.
Measure = tuple[str, str]
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


@dataclass(frozen=True)
class Experiment:
    """One of the suite: a file, or one for each parameter of the network that changes."""

    name: str
    title: str
    measures: Sequence[Measure]
    #: The paths it runs over, the first one only if quick; its own network if none.
    paths: Sequence[str] = ()
    #: What changes of the network, a file for each.
    parameters: Sequence[str] = ()
    #: Numbers of flows, half of them (rounded down) under test; the first and the last if quick.
    flows: Sequence[int] = ()
    #: Whether the others give way to congestion as the flows under test do: only then is there a
    #: fair share.
    competes: bool = False

    @property
    def has_parts(self) -> bool:
        """Whether there is more than one case."""
        return bool(self.paths or self.parameters or self.flows)

    def cases(self, *, quick: bool) -> Iterator[tuple[str, Scenario]]:
        """The name and the scenario of each. Quick keeps the first path, and the first and the
        last value of the grid.
        """
        for part, document in self._parts(quick=quick):
            grid = document["sweep"].get("grid", {})
            if quick:
                document["sweep"]["grid"] = {axis: _ends(values) for axis, values in grid.items()}
            yield part, validated(document)

    def _parts(self, *, quick: bool) -> Iterator[tuple[str, Document]]:
        for parameter in self.parameters:
            yield parameter, _read(f"{self.name}-{parameter}")
        for path in self.paths[:1] if quick else self.paths:
            yield path, _over(_read(self.name), path)
        for count in _ends(self.flows) if quick else self.flows:
            yield f"k = {count}", _shared(_read(self.name), count)
        if not self.has_parts:
            yield "default", _read(self.name)


def _read(name: str) -> Document:
    return read(data.path(f"{_FOLDER}/{name}.toml"))


def _ends(values: Sequence[Value]) -> Sequence[Value]:
    """The first and the last."""
    return values[:: max(1, len(values) - 1)]


def _shared(document: Document, count: int) -> Document:
    """So many flows, half of them (rounded down) under test."""
    for flow in document["flows"]:
        flow["count"] = count // 2 if flow["label"] == TESTED else count - count // 2
    return document


def _over(document: Document, path: str) -> Document:
    """The experiment with a path's network and base RTT."""
    along = read(data.path(f"{_FOLDER}/paths/{path}.toml"))
    moved = copy.deepcopy(document)
    moved["topology"] = along["topology"]
    for flow in moved["flows"]:
        flow["rtt"] = along["flows"][0]["rtt"]
    return moved


def with_control(scenario: Scenario, control: Json) -> Scenario:
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
    Experiment(
        "step", "A rate, delay or loss that steps up or down", _RESPONSE, parameters=_PARAMETERS
    ),
    Experiment(
        "pulse-wave", "A rate, delay or loss that alternates", _RESPONSE, parameters=_PARAMETERS
    ),
    Experiment("replayed-trace", "A rate replayed from a trace", _ONE, _TRACED),
    Experiment("random-walk", "A rate that walks at random", _ONE),
    Experiment(
        "friendliness",
        "Beside Cubic flows",
        (("group", "throughput_share_l4"), *_HARM, *_SHARING),
        flows=range(2, 17),
        competes=True,
    ),
    Experiment("on-off", "Beside TCP that comes and goes", _BESIDE, competes=True),
    Experiment("udp", "Beside UDP", _BESIDE),
)
