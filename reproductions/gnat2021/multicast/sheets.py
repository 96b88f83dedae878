"""The table of sections 4.2 to 4.6: published, common rate, utility maximum and measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.multicast.cells import (
    COMMON,
    DELAY,
    DELIVERED,
    GOODPUT,
    NOISE,
    OPTIMUM,
    TABLE,
)
from sojourn_reproductions.gnat2021.rows import by_row

_HEADER = (
    "section",
    "flow",
    "report (Mbit/s)",
    "common rate",
    "optimum",
    "here",
    "varies (%)",
    "delivered (%)",
    "delay (ms)",
)
_COLUMNS = (COMMON, OPTIMUM, GOODPUT, NOISE, DELIVERED, DELAY)


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One table for all sections."""
    lines = []
    for (section, name), columns in by_row(rows, TABLE).items():
        values = [columns.get(column, {}).get("measured") for column in _COLUMNS]
        lines.append([section, name, columns.get(GOODPUT, {}).get("published"), *values])
    if lines:
        yield Sheet(
            TABLE, "4.2 to 4.6: goodput of each stream and receiver", _HEADER, lines, words=2
        )
