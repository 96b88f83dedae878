"""A reproduction's card: what each parameter and criterion rests on, and what was changed when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sojourn import literal
from sojourn.errors import ScenarioError
from sojourn.reproduction.entries import document, entries, known

#: Where a parameter's value is from: printed, read in the authors' sources, fitted to printed
#: values, or chosen because the sources leave it out.
PARAMETER_ORIGINS = ("published", "sources", "calibrated", "chosen")
#: Whether the results that a criterion judges had a part in the choice of parameters.
CRITERION_ORIGINS = ("predicted", "calibrated")


@dataclass(frozen=True)
class Parameter:
    """A choice of the set-up."""

    name: str
    value: str
    #: One of :data:`PARAMETER_ORIGINS`.
    origin: str
    #: Where it is printed or was read, on which printed cells it was fitted, or why it was chosen.
    why: str
    #: What it concerns; everything if empty.
    sections: Sequence[str] = ()

    def __str__(self) -> str:
        """As it is printed with the comparison."""
        return f"{self.name}: {self.value} ({self.origin})"


@dataclass(frozen=True)
class Criteria:
    """Statements whose criteria rest on the same."""

    #: Their ids.
    statements: Sequence[str]
    #: One of :data:`CRITERION_ORIGINS`; what is calibrated is shown, but not judged.
    origin: str
    why: str


@dataclass(frozen=True)
class Change:
    """A criterion, an optimum or a judged form that was changed after results had been seen."""

    of: str
    statements: Sequence[str]
    date: date
    former: str
    now: str
    why: str
    #: What came of it under the former one, and under this one.
    outcome_former: str
    outcome_now: str
    #: The commit that changed it, if there is one.
    commit: str = ""


@dataclass(frozen=True)
class Card:
    """The card."""

    #: When it was last gone through.
    date: date
    parameters: Sequence[Parameter] = ()
    criteria: Sequence[Criteria] = ()
    changes: Sequence[Change] = ()

    def is_calibrated(self, statement: str) -> bool:
        """Whether a statement's id is among those that are not judged."""
        return any(statement in c.statements for c in self.criteria if c.origin == "calibrated")


def read(path: Path) -> Card:
    """The card of a file (TOML).

    Raises:
        ScenarioError: names the file, the entry and what is wrong with it.

    """
    told = document(path)
    known(f"{path}", told, Card)
    card = Card(
        _date(f"{path}: date", told["date"]),
        list(entries(path, told, "parameters", Parameter)),
        list(entries(path, told, "criteria", Criteria)),
        list(entries(path, told, "changes", Change)),
    )
    for place, entry in enumerate(card.parameters):
        _one_of(f"{path}: parameters.{place}.origin", entry.origin, PARAMETER_ORIGINS)
    for place, criteria in enumerate(card.criteria):
        _one_of(f"{path}: criteria.{place}.origin", criteria.origin, CRITERION_ORIGINS)
    for place, change in enumerate(card.changes):
        _date(f"{path}: changes.{place}.date", change.date)
    return card


def _one_of(where: str, given: str, allowed: Sequence[str]) -> None:
    if given not in allowed:
        raise ScenarioError(f"{where}: {literal.given(given)} given; allowed: {', '.join(allowed)}")


def _date(where: str, given: object) -> date:
    if type(given) is not date:
        raise ScenarioError(
            f"{where}: {literal.given(given)} given; expected a date such as 2026-11-25"
        )
    return given
