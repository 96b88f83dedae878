"""The groups of flows of a section, as its experiment has them, for what judges their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import inf

from sojourn.quantity import number
from sojourn.reproduction.paper import Request
from sojourn_reproductions.gnat2021.overlay import runs
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS


@dataclass(frozen=True)
class Group:
    """Flows of one label."""

    count: int
    #: Mbit/s that each offers.
    rate: float
    priority: float
    #: ``log`` (elastic), ``strap`` (inelastic) or ``flog`` (floored).
    utility: str


@cache
def groups(section: str) -> Mapping[str, Group]:
    """By label, of those that the overlay manages; ``--set`` does not move them."""
    experiment = next(each for each in EXPERIMENTS if each.section == section)
    scenario = runs.document(experiment, experiment.runs[0], Request())
    managed = [flow for flow in scenario["flows"] if "service" in flow]
    counts = dict.fromkeys((flow["label"] for flow in managed), 0)
    for flow in managed:
        counts[flow["label"]] += flow["count"]
    return {
        flow["label"]: Group(
            counts[flow["label"]],
            number(flow["traffic"]["rate"]) / 1e6 if "rate" in flow["traffic"] else inf,
            float(flow["service"]["priority"]),
            flow["service"]["utility"],
        )
        for flow in managed
    }
