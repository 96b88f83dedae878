"""What the report prints, as files: its tables, and values of its text."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from sojourn import data


def published(table: str) -> list[Mapping[str, str]]:
    """The rows of ``reference/gnat2021/TABLE.csv``."""
    lines = _path(table).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def published_if_at_hand(table: str) -> list[Mapping[str, str]]:
    """The same; none where its values are not at hand."""
    return published(table) if _path(table).exists() else []


def value(row: Mapping[str, str], column: str) -> float | None:
    """A value of a row, where it has one."""
    return float(row[column]) if row.get(column) else None


def _path(table: str) -> Path:
    return data.path(f"reference/gnat2021/{table}.csv")
