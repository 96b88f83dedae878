"""Looking measured values up, for statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sojourn.reproduction.statements import Row


def value(rows: Iterable[Row], table: str, row: str, column: str, section: str = "") -> float:
    """What was measured; a ``KeyError`` if it was not."""
    for found in rows:
        if (found["table"], found["row"], found["column"]) == (table, row, column) and (
            section in ("", found["section"])
        ):
            if found["measured"] is None:
                break
            return float(found["measured"])
    raise KeyError(f"a measured {' '.join(filter(None, (section, table, row, column)))}")


def values(
    rows: Iterable[Row], table: str, column: str, section: str = "", *, begin: str = "from_s="
) -> dict[str, float]:
    """A column by row, of the rows whose names begin so; a ``KeyError`` if there is none."""
    found = {
        row["row"].removeprefix(begin): row["measured"]
        for row in rows
        if row["table"] == table
        and row["column"] == column
        and section in ("", row["section"])
        and row["row"].startswith(begin)
        and row["measured"] is not None
    }
    if not found:
        raise KeyError(f"measured {' '.join(filter(None, (section, table, column)))}")
    return found


def listed(numbers: Iterable[float]) -> str:
    """Numbers side by side."""
    return ", ".join(f"{number:.3g}" for number in numbers)


def named(numbers: Sequence[tuple[str, float]]) -> str:
    """Numbers with what they are of."""
    return ", ".join(f"{name} {number:.3g}" for name, number in numbers)
