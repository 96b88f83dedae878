"""Sections 4.2 to 4.6: multicast over the overlay."""

from sojourn_reproductions.gnat2021.multicast.cells import TABLE, cells
from sojourn_reproductions.gnat2021.multicast.charts import charts, drawn
from sojourn_reproductions.gnat2021.multicast.sheets import sheets
from sojourn_reproductions.gnat2021.multicast.statements import STATEMENTS

__all__ = ["STATEMENTS", "TABLE", "cells", "charts", "drawn", "sheets"]
