"""What a published evaluation is: cells of tables, and the runs that measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.campaign.cases import AnyCase, Results
from sojourn.reproduction.card import Card
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row, Statement

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart


@dataclass(frozen=True)
class Cell:
    """One cell of a published table, and how it is measured."""

    #: The key columns as in the reference file; a wide file's are ``row`` and ``column``.
    keys: Mapping[str, str]
    published: float | None
    #: The replications, each of the cases that ``measure`` takes together what they came to.
    replications: Sequence[tuple[AnyCase, ...]]
    measure: Callable[..., float | None]


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    tables: Sequence[str] = ()
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    quick: bool = False
    overrides: Sequence[str] = ()
    #: The printed lengths where the evaluation shortens them.
    full: bool = False
    #: Sections, each with all below it; all if there are none.
    sections: Sequence[str] = ()

    def covers(self, section: str) -> bool:
        """Whether a section is one of those asked for, or below one."""
        return not self.sections or any(below(section, asked) for asked in self.sections)

    def touches(self, section: str) -> bool:
        """Whether a section, or a part of it, was asked for."""
        return self.covers(section) or any(below(asked, section) for asked in self.sections)

    def includes(self, other: Request) -> bool:
        """Whether all that ``other`` asks for is asked for here."""
        return (
            (other.quick or not self.quick)
            and (self.full or not other.full)
            and (not self.tables or (bool(other.tables) and {*other.tables} <= {*self.tables}))
            and (not self.sections or all(map(self.covers, other.sections or ("",))))
            and all({*other.where.get(k, ["*"])} <= {*values} for k, values in self.where.items())
        )


def below(section: str, other: str) -> bool:
    """Whether a section is ``other`` or a part of it; its numbers are whole: 4.20 is not in 4.2."""
    return section.split(".")[: other.count(".") + 1] == other.split(".")


@dataclass(frozen=True)
class Paper:
    """A published evaluation."""

    name: str
    title: str
    #: Key columns of the comparison.
    keys: Sequence[str]
    #: Those of them that name a row on the screen; the others head its tables.
    labels: Sequence[str]
    #: Identifiers of its tables.
    tables: Sequence[str]
    #: What its parameters and criteria rest on; those of what was asked for are printed.
    card: Card
    #: The cells of the requested tables, in the order of print.
    cells: Callable[[Request], Iterable[Cell]]
    #: What its authors observed in words, or what the comparison aims at.
    statements: Sequence[Statement]
    #: How the comparison is shown; by default a line per cell.
    sheets: Callable[[Sequence[Row]], Iterable[Sheet]] | None = None
    #: Figures by name: of the comparison, and of what the cases came to.
    charts: Callable[[Sequence[Row], Request, Results], Mapping[str, Chart]] | None = None
    #: The cases that figures need, by the keys of the cells that are shown.
    drawn: Callable[[Sequence[Row], Request], Iterable[AnyCase]] | None = None
    #: Whether it shortens what was printed, so that ``--full`` asks for more.
    shortened: bool = False

    def choices_of(self, request: Request) -> list[str]:
        """The parameters of what was asked for."""
        asked = (p for p in self.card.parameters if _concerns(p.sections, request))
        return [str(parameter) for parameter in asked]

    @property
    def judged(self) -> list[Statement]:
        """The statements that are predictions."""
        return [s for s in self.statements if not self.card.is_calibrated(s.id)]

    @property
    def calibrated(self) -> list[Statement]:
        """The others, whose results had a part in the choice of parameters."""
        return [s for s in self.statements if self.card.is_calibrated(s.id)]


def _concerns(sections: Sequence[str], request: Request) -> bool:
    return not sections or any(request.touches(section) for section in sections)
