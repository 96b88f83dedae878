"""Rows of the sections whose cells are measured from runs of their own: names and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.reproduction.statements import Row


def row_name(run: str, phase: str, flows: str) -> str:
    """What names a row; ``flows`` with its key, as in ``flow=1 to 7``."""
    return " ".join(filter(None, (f"run={run}" if run else "", f"phase={phase}", flows)))


def measured(
    rows: Sequence[Row], table: str, section: str, column: str, part: str = ""
) -> dict[str, float]:
    """Measured values of a section by row; a ``KeyError`` if there are none."""
    found = {
        row["row"]: row["measured"]
        for row in rows
        if row["section"] == section
        and row["table"] == table
        and row["column"] == column
        and part in row["row"]
        and row["measured"] is not None
    }
    if not found:
        raise KeyError(f"{section} {part}".strip())
    return found


def by_row(rows: Sequence[Row], table: str) -> Mapping[tuple[str, str], Mapping[str, Row]]:
    """Of each section and row of a table, its cells by column."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row["table"] == table:
            found.setdefault((row["section"], row["row"]), {})[row["column"]] = row
    return found
