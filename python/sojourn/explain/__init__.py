"""Why a run's numbers are so: one file per cause, each of which says what it finds, with times.

A cause is ``find(evidence)`` of its file and a name in :data:`CAUSES`. What it yields is a
:class:`Finding`: what was measured, what is only inferred from that, and a weight from 0 to 1 by
which findings are told, the heaviest first. Weights order; they measure nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, TypedDict

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, Told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.measured import Measured

__all__ = ["Evidence", "Explanation", "Finding", "Told", "explain"]

#: The files of the causes, in the order in which equally heavy findings are told.
CAUSES = ("limits", "losses", "ecn", "queueing", "inflation", "convergence", "starvation")
#: Before others of the same cause are told, the heaviest so many of each are.
_OF_A_CAUSE = 2


class Document(TypedDict):
    """An explanation as ``sojourn explain --format json`` prints it."""

    scenario: str
    findings: list[Told]
    recorded: list[str]
    unknown: list[str]


@dataclass(frozen=True)
class Explanation:
    """What was found of a run."""

    name: str
    #: The heaviest first.
    findings: Sequence[Finding]
    #: Tables of what was recorded as it happened.
    recorded: Sequence[str]
    #: What the run cannot tell, and how to learn it.
    unknown: Sequence[str]

    def heaviest(self, most: int) -> list[Finding]:
        """So many findings in the order of their weights: at first no more than two of a cause, so
        that many flows alike do not hide the rest.
        """
        counts: Counter[str] = Counter()
        first: list[Finding] = []
        others: list[Finding] = []
        for finding in self.findings:
            counts[finding.cause] += 1
            (first if counts[finding.cause] <= _OF_A_CAUSE else others).append(finding)
        chosen = {id(finding) for finding in [*first, *others][:most]}
        return [finding for finding in self.findings if id(finding) in chosen]

    def to_json(self) -> Document:
        """The same for programs: times in seconds, units of numbers in their names."""
        return {
            "scenario": self.name,
            "findings": [finding.to_json() for finding in self.findings],
            "recorded": [*self.recorded],
            "unknown": [*self.unknown],
        }


def explain(run: Measured) -> Explanation:
    """What limited, lost, delayed, unsettled and starved the flows of a run, and when."""
    evidence = Evidence(run)
    findings = [
        replace(found, cause=name)
        for name in CAUSES
        for found in import_module(f"sojourn.explain.{name}").find(evidence)
    ]
    findings.sort(key=lambda found: -found.weight)
    return Explanation(run.scenario.name, findings, sorted(run.record.tables), evidence.unknown())
