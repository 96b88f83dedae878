"""Published and measured, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from sojourn import csv_table
from sojourn.campaign.cases import Results
from sojourn.metrics.columns import Values
from sojourn.reproduction.paper import Cell, Paper
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn.store.files import write_atomically

#: Columns after a table's keys; ``measured`` is the median over the replications.
VALUES = ("published", "measured", "difference", "mean", "min", "q1", "q3", "max", "replications")


def compare(cell: Cell, results: Results) -> Row:
    """One row of the comparison; undefined measurements are left out."""
    measured = (
        cell.measure(*(results[case] for case in cases))
        for cases in cell.replications
        if all(case in results for case in cases)
    )
    values = np.array([v for v in measured if v is not None], dtype=float)
    spread = _spread(values)
    if cell.published is not None and spread["measured"] is not None:
        spread["difference"] = spread["measured"] - cell.published
    return {**cell.keys, "published": cell.published, **spread}


def _spread(values: Values) -> dict[str, float | None]:
    names = ("min", "q1", "measured", "q3", "max")
    row: dict[str, float | None] = dict.fromkeys(VALUES[1:])
    if len(values):
        row |= dict(zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist(), strict=True))
        row["mean"] = float(values.mean())
    return row | {"replications": len(values)}


def write(path: Path, keys: Sequence[str], rows: Iterable[Row]) -> None:
    """Writes ``comparison.csv``; what is unknown is empty."""

    def fill(partial: Path) -> None:
        with partial.open("w", newline="", encoding="utf-8") as file:
            csv_table.write(file, (*keys, *VALUES), rows)

    write_atomically(path, fill)


def heading(paper: Paper, row: Row) -> str:
    """The key columns that do not name the row, a repeated value once."""
    told = [row[key] for key in paper.labels]
    values = [row[key] for key in paper.keys if row[key] not in told]
    return " ".join(dict.fromkeys(values))


#: What a line per cell shows of ``VALUES``, and its heads.
_SHOWN = {
    "published": "published",
    "measured": "median",
    "difference": "diff.",
    "q1": "q1",
    "q3": "q3",
    "min": "min",
    "max": "max",
}


def lines(paper: Paper, rows: Sequence[Row]) -> Iterator[Sheet]:
    """The comparison with a line per cell."""
    for title, group in groupby(rows, partial(heading, paper)):
        cells = [[*(row[k] for k in paper.labels), *(row[v] for v in _SHOWN)] for row in group]
        header = (*paper.labels, *_SHOWN.values())
        name = re.sub("[^a-zA-Z0-9.]+", "-", title).strip("-") or paper.name
        yield Sheet(name, title, header, cells, words=len(paper.labels))
