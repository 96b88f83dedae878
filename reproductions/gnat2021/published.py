"""The report's tables as files."""

from __future__ import annotations

import csv
from collections.abc import Mapping

from sojourn import data


def published(table: str) -> list[Mapping[str, str]]:
    """The rows of ``reference/gnat2021/TABLE.csv``; none where its values are not at hand."""
    path = data.path(f"reference/gnat2021/{table}.csv")
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))
