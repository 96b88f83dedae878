"""Chapter 4 of the report: the overlay. Unicast experiments with elastic flows."""

from sojourn.papers.gnat2021.overlay.cells import TABLE, cells
from sojourn.papers.gnat2021.overlay.charts import charts
from sojourn.papers.gnat2021.overlay.choices import CHOICES
from sojourn.papers.gnat2021.overlay.sheets import sheets
from sojourn.papers.gnat2021.overlay.statements import STATEMENTS

__all__ = ["CHOICES", "STATEMENTS", "TABLE", "cells", "charts", "sheets"]
