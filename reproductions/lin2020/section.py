"""What each section of the paper gives to the evaluation: a module of this package names it so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row, Statement

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

#: The parameters as they stand in the paper.
PRINTED = "printed"
#: One reasoned set of parameters per scenario.
INFERRED = "inferred"
#: Real paths, after Cubic's baseline.
PATH = "path"
#: Wi-Fi.
MEASURED = "measured"


@dataclass(frozen=True)
class Judged:
    """The form of a table that is judged; if it was changed, the card has what the former gave."""

    form: str
    reason: str
    #: The commit that named it, its date, and whether results of another form were known by then.
    since: str


def _no_charts(_rows: Sequence[Row]) -> Mapping[str, Chart]:
    return {}


def _no_sheets(_rows: Sequence[Row]) -> Iterable[Sheet]:
    return ()


@dataclass(frozen=True)
class Section:
    """A part of the paper."""

    #: Its tables and figures, each with the form that is judged.
    tables: Mapping[str, Judged]
    #: The cells of one of its tables, in all of its forms.
    cells: Callable[[str, Request], Iterable[Cell]]
    #: What its authors observe, and statements of ours.
    statements: Sequence[Statement] = ()
    sheets: Callable[[Sequence[Row]], Iterable[Sheet]] = _no_sheets
    charts: Callable[[Sequence[Row]], Mapping[str, Chart]] = _no_charts
