"""Suites of experiments: which file, over which paths, judged by what."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sojourn.json_types import Json
from sojourn.scenario import Document, Scenario, read, validated

Value = TypeVar("Value")
#: The flows under test are those with this label.
TESTED = "tested"

#: Scope and name of what is judged, for flows as the mean over those under test; harm is that done
#: to the other flows.
Measure = tuple[str, str]


@dataclass(frozen=True)
class Experiment:
    """One of a suite: a file, or one for each parameter of the network that changes."""

    #: Where the files lie: ``NAME.toml``, ``NAME-PARAMETER.toml``, ``paths/PATH.toml``.
    folder: Path
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
    #: Whether throughput is drawn against delay.
    drawn: bool = False

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
            yield parameter, self._read(f"{self.name}-{parameter}")
        for path in self.paths[:1] if quick else self.paths:
            yield path, _over(self._read(self.name), self._read(f"paths/{path}"))
        for count in _ends(self.flows) if quick else self.flows:
            yield f"k = {count}", _shared(self._read(self.name), count)
        if not self.has_parts:
            yield "default", self._read(self.name)

    def _read(self, name: str) -> Document:
        return read(self.folder / f"{name}.toml")


@dataclass(frozen=True)
class Suite:
    """What a control is put through."""

    name: str
    #: As sentences name its experiments.
    title: str
    #: At least one; controls are checked with the first.
    experiments: Sequence[Experiment]


def _ends(values: Sequence[Value]) -> Sequence[Value]:
    """The first and the last."""
    return values[:: max(1, len(values) - 1)]


def _shared(document: Document, count: int) -> Document:
    """So many flows, half of them (rounded down) under test."""
    for flow in document["flows"]:
        flow["count"] = count // 2 if flow["label"] == TESTED else count - count // 2
    return document


def _over(document: Document, along: Document) -> Document:
    """The experiment with a path's network and base RTT."""
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
