"""What the rate, delay and loss of LinkEm are when, as the experiments say."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.quantity import number
from sojourn.scenario import Document

#: After a change nothing is judged for so long, s.
SETTLES = 2.0


@dataclass(frozen=True)
class Phase:
    """A stretch of time in which LinkEm stays as it is."""

    #: s.
    begin: float
    end: float
    #: Mbit/s.
    rate: float
    #: Share of packets that are lost.
    loss: float

    @property
    def name(self) -> str:
        """The row of its cells."""
        return f"from_s={self.begin:g}"


def phases(scenario: Document) -> list[Phase]:
    """The phases of a run."""
    topology = scenario["topology"]
    end = number(scenario["duration"])
    changes = {name: _steps(topology, name) for name in ("rate", "delay", "loss")}
    times = sorted({at for steps in changes.values() for at, _ in steps} | {end})
    return [
        Phase(
            begin,
            until,
            1e-6 * number(_at(changes["rate"], begin)),
            number(_at(changes["loss"], begin)),
        )
        for begin, until in itertools.pairwise(times)
    ]


def grows(scenario: Document) -> list[float]:
    """When the delay becomes longer, s."""
    pairs = itertools.pairwise(_steps(scenario["topology"], "delay"))
    return [at for (_, before), (at, after) in pairs if number(after) > number(before)]


def _steps(topology: Document, name: str) -> list[tuple[float, Any]]:
    schedule = topology.get(f"{name}_schedule", {"steps": []})
    first = topology.get(name, "0 %")
    return [(0.0, first), *((number(step["at"]), step["value"]) for step in schedule["steps"])]


def _at(steps: Sequence[tuple[float, Any]], time: float) -> Any:
    return [value for at, value in steps if at <= time][-1]
