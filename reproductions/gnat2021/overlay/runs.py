"""The runs of chapter 4, and what is measured in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from sojourn import data
from sojourn.campaign.cases import Sampled
from sojourn.metrics import RunData
from sojourn.quantity import number
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, apply_override, read, set_path, validated
from sojourn_reproductions.gnat2021.overlay.experiments import Experiment, Phase, Run


def document(experiment: Experiment, run: Run, request: Request) -> Document:
    """The canonical scenario of a run."""
    scenario = read(data.path(f"experiments/gnat2021/{run.file or experiment.file}.toml"))
    for field, value in run.changes.items():
        set_path(scenario, field, value)
    for override in request.overrides:
        apply_override(scenario, override)
    return validated(scenario).canonical


def plain(scenario: Document) -> Document:
    """The same without the overlay: shortest paths, FIFO queues, all that is offered.

    No topology of the chapter has several shortest paths between the ends of a flow, so that
    multipath by flow at equal cost (ECMP) is the same.
    """
    bare = json.loads(json.dumps(scenario))
    bare["topology"]["nodes"] = [node["id"] for node in bare["topology"]["nodes"]]
    for flow in bare["flows"]:
        flow.pop("service", None)
    return checked(bare)


def checked(scenario: Document) -> Document:
    """The canonical form of a scenario that was changed."""
    return validated(scenario).canonical


#: Columns of the flows' samples that cells and figures are made of; the others are ten times as
#: much.
_KEPT = (
    *("in_order_bytes", "one_way_delay_sum", "one_way_delay_count"),
    *("sent_packets", "delivered_packets", "reordered_packets"),
)


def sampled(scenario: Document) -> Sampled:
    """The run of a scenario, with what cells and figures are made of."""
    return Sampled.of(scenario, keeps=_KEPT)


def _flows(scenario: Mapping[str, Any], label: str, node: str = "") -> list[int]:
    """The numbers of the flows of a label, of those to a node if one is given."""
    numbers: list[int] = []
    first = 0
    for flow in scenario["flows"]:
        if flow["label"] == label and node in ("", flow["to"]):
            numbers += range(first, first + flow["count"])
        first += flow["count"]
    return numbers


def _inside(data: RunData, phase: Phase) -> np.ndarray:
    samples = data.flow.samples
    return (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)


def goodput(label: str, phase: Phase, data: RunData) -> float:
    """Payload that a flow of a label gets through in an interval, Mbit/s; the mean of its flows."""
    inside, flows = _inside(data, phase), _flows(data.scenario, label)
    samples = data.flow.samples
    time = float((samples.ends - samples.begins)[inside].sum())
    return float(8e-6 * samples["in_order_bytes"][inside][:, flows].sum() / (time * len(flows)))


def served(label: str, phase: Phase, data: RunData) -> float:
    """Per cent of its rate that a flow of a label gets through; the mean of its flows."""
    flow = next(flow for flow in data.scenario["flows"] if flow["label"] == label)
    return 100 * 1e6 * goodput(label, phase, data) / number(flow["traffic"]["rate"])


def _share(label: str, phase: Phase, columns: tuple[str, str], data: RunData) -> float | None:
    """The sum of a column over a label's flows in an interval, divided by that of another."""
    inside, flows = _inside(data, phase), _flows(data.scenario, label)
    part, whole = (float(data.flow.samples[name][inside][:, flows].sum()) for name in columns)
    return part / whole if whole else None


def delay(label: str, phase: Phase, data: RunData) -> float | None:
    """From an application's write to its arrival, ms; the mean over packets. Of datagrams."""
    mean = _share(label, phase, ("one_way_delay_sum", "one_way_delay_count"), data)
    return None if mean is None else 1e3 * mean


def loss(label: str, phase: Phase, data: RunData) -> float | None:
    """Per cent of the datagrams sent that do not arrive; what is not admitted counts as well."""
    arrives = _share(label, phase, ("delivered_packets", "sent_packets"), data)
    return None if arrives is None else max(0.0, 100 * (1 - arrives))


def reordering(label: str, phase: Phase, data: RunData) -> float | None:
    """Per cent of the datagrams that arrive which come after one that was sent later."""
    late = _share(label, phase, ("reordered_packets", "delivered_packets"), data)
    return None if late is None else 100 * late


def signalling(phase: Phase, data: RunData) -> tuple[float, float]:
    """What nodes tell each other of queues and links: kbit/s, and per cent of what links carry."""
    inside = _inside(data, phase)
    told, sent = (
        np.asarray(data.tables[f"{of}_samples"][name], dtype=float).reshape(len(inside), -1)
        for of, name in (("node", "signalling_bytes"), ("link", "sent_bytes"))
    )
    told_bytes, sent_bytes = float(told[inside].sum()), float(sent[inside].sum())
    return 8e-3 * told_bytes / (phase.end - phase.begin), 100 * told_bytes / sent_bytes


def delays(data: RunData, label: str, node: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Mean delays of datagrams in each sample of each flow, ms, and how many arrived in it."""
    samples, flows = data.flow.samples, _flows(data.scenario, label, node)
    total, count = (
        samples[name][:, flows].ravel() for name in ("one_way_delay_sum", "one_way_delay_count")
    )
    some = count > 0
    return 1e3 * total[some] / count[some], count[some]


def series(data: RunData, label: str, node: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Ends of the samples, s, and payload delivered in each, Mbit/s; the mean of the flows."""
    samples = data.flow.samples
    delivered = samples["in_order_bytes"][:, _flows(data.scenario, label, node)].mean(axis=1)
    return samples.ends, 8e-6 * delivered / (samples.ends - samples.begins)
