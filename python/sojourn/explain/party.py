"""Whom an explanation tells apart: flows, or groups of many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.groups import Group, groups
from sojourn.measured import Measured
from sojourn.outcome import flow_identities

#: More flows than this are told as groups, and these are not more either.
MOST_FLOWS, MOST_GROUPS = 5, 5


@dataclass(frozen=True)
class Party:
    """A flow, or flows that are told together."""

    name: str
    #: Their numbers.
    flows: NDArray[np.intp]

    @property
    def ids(self) -> tuple[int, ...]:
        """The same as whole numbers."""
        return tuple(map(int, self.flows))


def parties(run: Measured) -> list[Party]:
    """Each flow, or groups of many; none in a run of transfers alone."""
    count = run.data.flow.count
    if count > MOST_FLOWS:
        return [Party(_called(group), group.flows) for group in groups(run, MOST_GROUPS)]
    named = flow_identities(run.scenario.canonical)
    return [
        Party(f"flow {flow['id']} {flow['label'] or flow['cca']}", np.array([place]))
        for place, flow in enumerate(named)
    ]


def _called(group: Group) -> str:
    count = len(group.flows)
    return f"{count:,} flows {group.name}" if count > 1 else f"flow {group.flows[0]} {group.name}"
