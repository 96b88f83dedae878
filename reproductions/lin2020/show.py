"""The paper's tables with ours beside, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from sojourn.numbers import number
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.controls import is_second
from sojourn_reproductions.lin2020.fitted import is_fitted
from sojourn_reproductions.lin2020.section import Judged

#: Errors of these are absolute, of all others relative.
_ABSOLUTE = "Jain's Index"


def grids(rows: Sequence[Row]) -> Iterator[Sheet]:
    """Each table as printed; a cell is ``paper / form / form``."""
    for table, group in groupby(rows, lambda row: row["table"]):
        yield _grid(table, list(group))


def _grid(table: str, rows: Sequence[Row]) -> Sheet:
    forms, columns, names = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("form", "column", "row")
    )
    values = {(row["form"], row["row"], row["column"]): row for row in rows}

    def cell(name: str, column: str) -> str:
        found = [values.get((form, name, column)) for form in forms]
        paper = next((row["published"] for row in found if row), None)
        return " / ".join(number(v) for v in (paper, *(r and r["measured"] for r in found)))

    lines = [(name, *(cell(name, column) for column in columns)) for name in names]
    title = f"{_named(table)} (paper / {' / '.join(forms)})"
    return Sheet(f"table-{table}", title, ("", *columns), lines, words=1 + len(columns))


def _named(table: str) -> str:
    if table.startswith("figure-"):
        return f"Figure {table.removeprefix('figure-').replace('-wifi', ', Wi-Fi')}"
    return f"Table {table.replace('A', 'A.')}"


def errors(rows: Sequence[Row], forms: Mapping[str, Judged]) -> Iterator[Sheet]:
    """Median errors of each column over the printed rows that no parameter was fitted to."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        published, measured = row["published"], row["measured"]
        if is_second(row["row"]) or None in (published, measured) or is_fitted(row):
            continue
        error = abs(measured - published)
        if row["column"] != _ABSOLUTE:
            error = 100 * error / published if published else np.nan
        found.setdefault((row["table"], row["form"], row["column"]), []).append(error)
    lines = [
        (t, form, _judged(forms, t, form), column, len(values), float(np.nanmedian(values)))
        for (t, form, column), values in found.items()
    ]
    if lines:
        header = ("table", "form", "", "column", "rows", "median error")
        title = (
            "Errors: relative (%), of Jain's index absolute; without what parameters were fitted to"
        )
        yield Sheet("errors", title, header, lines, words=4)


def _judged(forms: Mapping[str, Judged], table: str, form: str) -> str:
    return "judged" if forms[table].form == form else ""
