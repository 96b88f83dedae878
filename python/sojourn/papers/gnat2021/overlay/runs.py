"""The runs of chapter 4, each made once, two at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partial

import numpy as np

from sojourn import data
from sojourn.engine import simulate
from sojourn.metrics import RunData
from sojourn.papers.gnat2021.begun import Begun
from sojourn.papers.gnat2021.overlay.experiments import Experiment, Phase, Run
from sojourn.papers.paper import Request
from sojourn.quantity import number
from sojourn.scenario import Document, apply_override, read, set_path, validated


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


#: Columns of the flows' samples that cells and figures are made of. The others are ten times as
#: much, and all runs of the chapter are in memory until the figures are drawn.
_KEPT = (
    *("time", "flow", "in_order_bytes", "one_way_delay_sum", "one_way_delay_count"),
    *("sent_packets", "delivered_packets", "reordered_packets"),
)


def simulated(text: str) -> RunData:
    """The run of a scenario as JSON, with what cells and figures are made of."""
    data = simulate(json.loads(text))[0]
    flows = {name: data.tables["flow_samples"][name] for name in _KEPT}
    return replace(data, tables={**data.tables, "flow_samples": flows})


@cache
def _run(text: str) -> Begun[RunData]:
    return Begun(partial(simulated, text))


def begin(scenario: Document) -> Begun[RunData]:
    """The run of a scenario, begun if it was not yet."""
    return _run(json.dumps(scenario, sort_keys=True))


def _flows(scenario: Document, label: str, node: str = "") -> list[int]:
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


def goodput(scenario: Document, label: str, phase: Phase) -> float:
    """Payload that a flow of a label gets through in an interval, Mbit/s; the mean of its flows."""
    data = begin(scenario).result()
    inside, flows = _inside(data, phase), _flows(scenario, label)
    samples = data.flow.samples
    time = float((samples.ends - samples.begins)[inside].sum())
    return float(8e-6 * samples["in_order_bytes"][inside][:, flows].sum() / (time * len(flows)))


def served(scenario: Document, label: str, phase: Phase) -> float:
    """Per cent of its rate that a flow of a label gets through; the mean of its flows."""
    flow = next(flow for flow in scenario["flows"] if flow["label"] == label)
    return 100 * 1e6 * goodput(scenario, label, phase) / number(flow["traffic"]["rate"])


def _share(scenario: Document, label: str, phase: Phase, columns: tuple[str, str]) -> float | None:
    """The sum of a column over a label's flows in an interval, divided by that of another."""
    data = begin(scenario).result()
    inside, flows = _inside(data, phase), _flows(scenario, label)
    part, whole = (float(data.flow.samples[name][inside][:, flows].sum()) for name in columns)
    return part / whole if whole else None


def delay(scenario: Document, label: str, phase: Phase) -> float | None:
    """From an application's write to its arrival, ms; the mean over packets. Of datagrams."""
    mean = _share(scenario, label, phase, ("one_way_delay_sum", "one_way_delay_count"))
    return None if mean is None else 1e3 * mean


def loss(scenario: Document, label: str, phase: Phase) -> float | None:
    """Per cent of the datagrams sent that do not arrive; what is not admitted counts as well."""
    arrives = _share(scenario, label, phase, ("delivered_packets", "sent_packets"))
    return None if arrives is None else max(0.0, 100 * (1 - arrives))


def reordering(scenario: Document, label: str, phase: Phase) -> float | None:
    """Per cent of the datagrams that arrive which come after one that was sent later."""
    late = _share(scenario, label, phase, ("reordered_packets", "delivered_packets"))
    return None if late is None else 100 * late


def signalling(scenario: Document, phase: Phase) -> tuple[float, float]:
    """What nodes tell each other of queues and links: kbit/s, and per cent of what links carry."""
    data = begin(scenario).result()
    inside = _inside(data, phase)
    told, sent = (
        np.asarray(data.tables[f"{of}_samples"][name], dtype=float).reshape(len(inside), -1)
        for of, name in (("node", "signalling_bytes"), ("link", "sent_bytes"))
    )
    told_bytes, sent_bytes = float(told[inside].sum()), float(sent[inside].sum())
    return 8e-3 * told_bytes / (phase.end - phase.begin), 100 * told_bytes / sent_bytes


def delays(scenario: Document, label: str, node: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Mean delays of datagrams in each sample of each flow, ms, and how many arrived in it."""
    samples, flows = begin(scenario).result().flow.samples, _flows(scenario, label, node)
    total, count = (
        samples[name][:, flows].ravel() for name in ("one_way_delay_sum", "one_way_delay_count")
    )
    some = count > 0
    return 1e3 * total[some] / count[some], count[some]


def series(scenario: Document, label: str, node: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Ends of the samples, s, and payload delivered in each, Mbit/s; the mean of the flows."""
    samples = begin(scenario).result().flow.samples
    delivered = samples["in_order_bytes"][:, _flows(scenario, label, node)].mean(axis=1)
    return samples.ends, 8e-6 * delivered / (samples.ends - samples.begins)
