"""What exchangeable flows would have of print's order where two flows of one control compete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import mean

from sojourn.reproduction.rank import rank_correlation
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.controls import is_second
from sojourn_reproductions.lin2020.order import order
from sojourn_reproductions.lin2020.section import Judged

_FLOWS = ("Flow-1", "Flow-2")


def sheet(rows: Sequence[Row], forms: Mapping[str, Judged]) -> Iterator[Sheet]:
    """How far the printed orders of the two flows agree, what follows for a model, and what was
    measured in the judged form; nothing if not run.

    Two flows of one control, started alike, are exchangeable: over many starts a model orders the
    controls by one number for both. Of a pair of controls that print has one way round for the
    first flows and the other way for the second it is then as often right in one column as it is
    wrong in the other, so that the mean of both columns' tau is in expectation at most the share
    of pairs printed alike, (1 + tau between the columns) / 2. This is a reference and no bound: it
    says nothing of one set of starts, and in a full link what one flow gains the other loses.
    """
    printed: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["column"] in _FLOWS and not is_second(row["row"]) and row["published"] is not None:
            columns = printed.setdefault(row["table"], {})
            columns.setdefault(row["column"], {})[row["row"]] = row["published"]
    lines = []
    for table, columns in printed.items():
        # Too few controls, or one column only.
        with suppress(KeyError):
            lines.append(_line(rows, table, forms[table].form, *map(columns.__getitem__, _FLOWS)))
    if lines:
        title = (
            "Mean tau of both flows: at most, in expectation, if they are exchangeable; measured"
        )
        header = ("table", "form", "controls", "tau of one to the other", "at most", "measured")
        yield Sheet("exchangeable", title, header, lines, words=2)


def _line(
    rows: Sequence[Row],
    table: str,
    form: str,
    first: Mapping[str, float],
    second: Mapping[str, float],
) -> tuple[str, str, int, float, float, float]:
    names = [name for name in first if name in second]
    alike = rank_correlation(
        tuple(first[name] for name in names), tuple(second[name] for name in names)
    )
    found = [order(rows, form, table, column).tau for column in _FLOWS]
    return table, form, alike.count, alike.tau, (1 + alike.tau) / 2, mean(found)
