"""GNAT: Raytheon BBN's report on Generalized Network Assisted Transport (2021).

Section 2.3 so far; one file per section.
"""

from __future__ import annotations

from sojourn.papers.gnat2021 import capacity
from sojourn.papers.paper import Paper

GNAT2021 = Paper(
    name="gnat2021",
    title="GNAT 2021: latency-constrained network capacity (section 2.3)",
    keys=("section", "table", "row", "column"),
    labels=("row", "column"),
    tables=(capacity.TABLE,),
    choices=capacity.CHOICES,
    cells=capacity.cells,
    statements=capacity.STATEMENTS,
    sheets=capacity.sheets,
    charts=capacity.charts,
)
