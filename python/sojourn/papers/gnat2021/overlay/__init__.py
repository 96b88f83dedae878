"""Chapter 4 of the report: the overlay. Its unicast experiments."""

from sojourn.papers.gnat2021.overlay import statements, times, triage
from sojourn.papers.gnat2021.overlay.cells import TABLE, cells
from sojourn.papers.gnat2021.overlay.charts import charts
from sojourn.papers.gnat2021.overlay.choices import CHOICES
from sojourn.papers.gnat2021.overlay.sheets import sheets

TABLES = (TABLE, times.TABLE)
STATEMENTS = (*statements.STATEMENTS, *times.STATEMENTS, *triage.STATEMENTS)

__all__ = ["CHOICES", "STATEMENTS", "TABLES", "cells", "charts", "sheets"]
