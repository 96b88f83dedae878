"""Alternative Backoff with ECN (ABE, RFC 8511) on CoDel and on PIE.

No table of its authors is at hand, so nothing published stands beside the measured values: what is
compared is what they state; see ``reference/abe/SOURCE.md``. The scenarios are the files of
``experiments/abe/``.
"""

from __future__ import annotations

from sojourn.reproduction.paper import Paper
from sojourn_reproductions.abe.cells import EXPERIMENTS, cells
from sojourn_reproductions.abe.charts import charts
from sojourn_reproductions.abe.runs import drawn
from sojourn_reproductions.abe.sheets import sheets
from sojourn_reproductions.abe.statements import STATEMENTS
from sojourn_reproductions.abe.values import KEYS

ABE = Paper(
    name="abe",
    title="Alternative Backoff with ECN (RFC 8511) on CoDel and on PIE",
    keys=KEYS,
    labels=("metric",),
    tables=tuple(EXPERIMENTS),
    choices=(
        'stack = "linux-4.9", version = "linux-4.9" of Cubic: the nearest to the authors\' kernels',
        'PIE of version = "linux-4" (target 20 ms); CoDel with its defaults (5 ms, 100 ms)',
        "standard backoff: beta_ecn = beta = 0.5 (NewReno), 0.7 (Cubic)",
        "one flow: 300 s, the first 30 s left out; short flows alone on the link",
        "3 seeds, each flow's start moved by up to 1 s; measured = their median",
        "convergence: counted past 100 packets of either flow, given up after 60 s",
    ),
    cells=cells,
    statements=STATEMENTS,
    sheets=sheets,
    charts=charts,
    drawn=drawn,
)
