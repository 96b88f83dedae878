"""Which scenarios are asked for, and which of these make sense together."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.errors import ScenarioError
from sojourn.json_types import Fields

KINDS = ("bulk", "transfer", "path")
FLOWS = (1, 2, 4)
FIFO = "fifo"
AQMS = ("codel", "fq_codel", "cake", "pie", "fq_pie")
#: One of these, by chance.
ANY_AQM = "aqms"
QUEUES = (FIFO, ANY_AQM, *AQMS)


@dataclass(frozen=True)
class Asked:
    """So many scenarios of each seed, and of what kind."""

    cells: int
    seeds: tuple[int, ...]
    #: Greedy flows over a queue, a transfer with random loss, or a greedy flow over a path that
    #: reorders, varies or loses: one of :data:`KINDS`.
    kind: str = "bulk"
    flows: int = 1
    #: One of :data:`QUEUES`; ``None``: they are drawn as well.
    queue: str | None = None
    #: Whether the queue marks and the flows hear of it.
    ecn: bool = False

    def check(self) -> None:
        """Refuses what does not go together.

        Raises:
            ScenarioError: naming the option.

        """
        others = {"--flows": self.flows != 1, "--queue": bool(self.queue), "--ecn": self.ecn}
        given = [option for option, is_given in others.items() if is_given]
        if self.kind != "bulk" and given:
            raise ScenarioError(
                f"{given[0]}: --kind {self.kind} has one flow over a FIFO; leave it out"
            )
        if self.ecn and self.queue == FIFO:
            raise ScenarioError(f"--queue: fifo does not mark; with --ecn: {', '.join(AQMS)}")

    def to_json(self) -> Fields:
        """For the manifest."""
        alike = {"kind": self.kind, "flows": self.flows, "queue": self.queue, "ecn": self.ecn}
        return {**alike, "cells": self.cells, "seeds": list(self.seeds)}
