"""Sections 2.1, 2.2 and 2.4: the report's models of multicast over backpressure, in slots."""

from sojourn_reproductions.gnat2021.slots import statements, statements_latency
from sojourn_reproductions.gnat2021.slots.cells import TABLE, cells
from sojourn_reproductions.gnat2021.slots.charts import charts, drawn
from sojourn_reproductions.gnat2021.slots.sheets import sheets

STATEMENTS = (*statements.STATEMENTS, *statements_latency.STATEMENTS)

__all__ = ["STATEMENTS", "TABLE", "cells", "charts", "drawn", "sheets"]
