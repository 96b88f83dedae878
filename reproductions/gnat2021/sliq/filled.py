"""How much of what a link passes is received, which several sections say something of."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.reproduction.statements import Finding, Row
from sojourn_reproductions.gnat2021.sliq.measured import named, values

#: The criterion, of a percentage.
FULL = "received from 2 s after each change: at least {:g} % of what passes"


def filled(
    table: str, section: str, least: float, columns: Sequence[str], rows: Sequence[Row]
) -> Finding:
    """Whether each of the columns of a section has so many per cent."""
    found = {c: list(values(rows, table, c, section).values()) for c in columns}
    lowest = [(c.removesuffix("_filled_percent"), min(v)) for c, v in found.items()]
    return Finding(all(v >= least for _, v in lowest), f"least: {named(lowest)} %")
