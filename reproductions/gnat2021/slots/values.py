"""Looking up what was measured of models, and what the report prints of them."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.rows import measured
from sojourn_reproductions.gnat2021.slots.cells import TABLE

#: How near a rate of the report's is to be.
ALIKE = 0.15
WITHIN = f"each receiver of each stream within {100 * ALIKE:g} %"


def values(rows: Sequence[Row], section: str, column: str, part: str) -> list[float]:
    """What was measured of runs whose names begin so; a ``KeyError`` if nothing was."""
    return [*measured(rows, TABLE, section, column, f"run={part}").values()]


def span(values: Sequence[float]) -> str:
    """From the least to the largest."""
    return f"{min(values):.3g} to {max(values):.3g}"


def printed(section: str, run: str, column: str, phase: str = "steady") -> float:
    """What the report says of a run."""
    [found] = [
        row["value"]
        for row in published(TABLE)
        if (row["section"], row["run"], row["phase"], row["column"])
        == (section, run, phase, column)
    ]
    return float(found)
