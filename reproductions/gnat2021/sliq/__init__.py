"""Sections 3.1 to 3.3 of the report: SLIQ's congestion controls and its adaptive error control."""

from sojourn_reproductions.gnat2021.sliq import (
    statements,
    statements_adaptive,
    statements_changing,
    statements_dual,
    statements_outages,
)
from sojourn_reproductions.gnat2021.sliq.cells import TABLES, cells
from sojourn_reproductions.gnat2021.sliq.charts import charts, drawn
from sojourn_reproductions.gnat2021.sliq.sheets import sheets

STATEMENTS = (
    *statements_changing.STATEMENTS,
    *statements_dual.STATEMENTS,
    *statements_outages.STATEMENTS,
    *statements_adaptive.STATEMENTS,
    *statements.STATEMENTS,
)

__all__ = ["STATEMENTS", "TABLES", "cells", "charts", "drawn", "sheets"]
