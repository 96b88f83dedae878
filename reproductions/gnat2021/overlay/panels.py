"""Panels of an experiment's figures: of each run; of many groups by the node where flows end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sojourn.figures.chart import PALETTE
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.overlay import runs
from sojourn_reproductions.gnat2021.overlay.experiments import Experiment

#: Panels of nodes, of all runs together, if each has one; of more nodes, the first are shown.
_SHOWN = 8


@dataclass(frozen=True)
class Part:
    """What a panel shows of a run."""

    title: str
    scenario: Document
    #: Groups of flows, each with the number of its colour.
    groups: Sequence[tuple[int, str]]
    #: The node where the flows end; any, if it is empty.
    node: str = ""


def parts(experiment: Experiment, request: Request) -> Iterator[Part]:
    """The panels; a group has one colour in all of them."""
    scenarios = [runs.document(experiment, run, request) for run in experiment.runs]
    known = _labels([flow for scenario in scenarios for flow in scenario["flows"]])
    numbers: dict[str, int] = {}
    for run, scenario in zip(experiment.runs, scenarios, strict=True):
        title, flows = experiment.heading(run), scenario["flows"]
        labels = _labels(flows)
        if len(labels) <= len(PALETTE):
            yield Part(title, scenario, [(known.index(label), label) for label in labels])
            continue
        nodes = sorted({flow["to"] for flow in flows}, key=lambda name: (len(name), name))
        for node in nodes[: max(1, _SHOWN // len(scenarios))]:
            here = _labels([flow for flow in flows if flow["to"] == node])
            for place, label in enumerate(here):
                numbers.setdefault(label, place)
            groups = [(numbers[label], label) for label in here]
            yield Part(f"{title} at {node}".strip(), scenario, groups, node)


def _labels(flows: Sequence[Document]) -> list[str]:
    return list(dict.fromkeys(flow["label"] for flow in flows))
