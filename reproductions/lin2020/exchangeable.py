"""What no model of a symmetric path can exceed where two flows of one control compete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.reproduction.rank import rank_correlation
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.controls import is_second

_FIRST, _SECOND = "Flow-1", "Flow-2"


def sheet(rows: Sequence[Row]) -> Iterator[Sheet]:
    """How far the printed orders of the two flows agree, and what follows; nothing if not run.

    Two flows of one control, started alike, are exchangeable: a model orders the controls by one
    number for both. A pair of controls that print has one way round for the first flows and the
    other way for the second is right for one of them only, so that over the two columns tau is at
    most the share of pairs printed alike, (1 + tau between the columns) / 2, on average.
    """
    printed: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if row["column"] not in (_FIRST, _SECOND) or is_second(row["row"]):
            continue
        if row["published"] is not None:
            columns = printed.setdefault(row["table"], {})
            columns.setdefault(row["column"], {})[row["row"]] = row["published"]
    lines = [line for table, columns in printed.items() for line in _line(table, columns)]
    if lines:
        title = "Most that tau of both flows can be on average, if the two are exchangeable"
        header = ("table", "controls", "tau of Flow-1 and Flow-2 in print", "ceiling")
        yield Sheet("ceilings", title, header, lines, words=1)


def _line(
    table: str, columns: dict[str, dict[str, float]]
) -> Iterator[tuple[str, int, float, float]]:
    first, second = columns.get(_FIRST, {}), columns.get(_SECOND, {})
    names = [name for name in first if name in second]
    try:
        alike = rank_correlation(
            tuple(first[name] for name in names), tuple(second[name] for name in names)
        )
    except KeyError:
        return
    yield table, alike.count, alike.tau, (1 + alike.tau) / 2
