"""A reproduction's card: what each parameter and criterion rests on, and what was changed when."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sojourn import literal
from sojourn.errors import ScenarioError
from sojourn.names import unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

#: Where a parameter's value is from: printed, read in the authors' sources, fitted to printed
#: values, or chosen because the sources leave it out.
PARAMETER_ORIGINS = ("published", "sources", "calibrated", "chosen")
#: Whether the results that a criterion judges had a part in the choice of parameters.
CRITERION_ORIGINS = ("predicted", "calibrated")

Entry = TypeVar("Entry", bound="DataclassInstance")


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
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"{path}: {error}") from None
    _known(f"{path}", document, Card)
    card = Card(
        _date(f"{path}: date", document["date"]),
        [_made(Parameter, *found) for found in _entries(path, document, "parameters")],
        [_made(Criteria, *found) for found in _entries(path, document, "criteria")],
        [_made(Change, *found) for found in _entries(path, document, "changes")],
    )
    for place, entry in enumerate(card.parameters):
        _one_of(f"{path}: parameters.{place}.origin", entry.origin, PARAMETER_ORIGINS)
    for place, criteria in enumerate(card.criteria):
        _one_of(f"{path}: criteria.{place}.origin", criteria.origin, CRITERION_ORIGINS)
    for place, change in enumerate(card.changes):
        _date(f"{path}: changes.{place}.date", change.date)
    return card


def _entries(
    path: Path, document: Mapping[str, Any], name: str
) -> list[tuple[str, Mapping[str, Any]]]:
    return [(f"{path}: {name}.{n}", entry) for n, entry in enumerate(document.get(name, ()))]


def _made(kind: type[Entry], where: str, entry: Mapping[str, Any]) -> Entry:
    _known(where, entry, kind)
    return kind(**entry)


def _known(where: str, entry: Mapping[str, object], kind: type[DataclassInstance]) -> None:
    """Refuses keys that there are not, and asks for those that are missing."""
    known = {field.name: field.default is MISSING for field in fields(kind)}
    for key in entry:
        if key not in known:
            raise ScenarioError(f"{where}: {unknown('key', key, known)}")
    for key, required in known.items():
        if required and key not in entry:
            raise ScenarioError(f"{where}: has no {key}")


def _one_of(where: str, given: str, allowed: Sequence[str]) -> None:
    if given not in allowed:
        raise ScenarioError(f"{where}: {literal.given(given)} given; allowed: {', '.join(allowed)}")


def _date(where: str, given: object) -> date:
    if type(given) is not date:
        raise ScenarioError(
            f"{where}: {literal.given(given)} given; expected a date such as 2026-11-25"
        )
    return given
