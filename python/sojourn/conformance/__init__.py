"""The conformance suite: what every member of the open kinds is put through, whoever brings it.

The checks are the core's; here is whom they are put to, and where that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from sojourn.json_types import Fields


def conformance(cca: str | type | Fields) -> pl.DataFrame:
    """Puts a congestion control through the suite: a name, a class, or a scenario's table.

    One row per check: ``check``, ``value``, the ``least`` and the ``most`` that is required (null:
    unbounded), and whether it ``holds``.

    Raises:
        ScenarioError: if there is no such control, or it refuses its parameters.
        RunError: if it ends a run.

    """
    import polars as pl

    from sojourn.conformance.checked import value
    from sojourn.conformance.subjects import control
    from sojourn.conformance.suite import suite

    chosen = control(cca)
    rows = []
    for check in suite("ccas"):
        found = value(chosen.kind, chosen.table, check.name)
        rows.append((check.name, found, check.least, check.most, check.holds(found)))
    names = ("check", "value", "least", "most", "holds")
    types = (pl.String, pl.Float64, pl.Float64, pl.Float64, pl.Boolean)
    return pl.DataFrame(rows, orient="row", schema=dict(zip(names, types, strict=True)))
