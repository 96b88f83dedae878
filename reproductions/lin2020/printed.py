"""The paper's tables as printed, and what its text tells of figures, for those that are at hand."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache

from sojourn import data

#: A printed number with its unit, such as ``93.21Mbps``.
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
Values = Mapping[str, Mapping[str, float]]


@cache
def printed(table: str, label: str = "Protocols") -> Values:
    """Numbers by row and column, verbatim; empty if the table is not at hand."""
    name = table.replace("-", "_") if table.startswith("figure-") else f"table_{table}"
    path = data.path(f"reference/lin2020/{name}.csv")
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(row for row in file if not row.startswith("#")))
    return {line.pop(label): _numbers(line) for line in lines}


def _numbers(line: Mapping[str, str]) -> dict[str, float]:
    found = ((column, _NUMBER.match(text)) for column, text in line.items())
    return {column: float(match.group()) for column, match in found if match}


def value(table: str, row: str, column: str, label: str = "Protocols") -> float | None:
    """One printed number, ``None`` if it is not at hand."""
    return printed(table, label).get(row, {}).get(column)
