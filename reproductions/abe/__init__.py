"""Alternative Backoff with ECN (ABE, RFC 8511) on CoDel and on PIE.

No table of its authors is at hand, so nothing published stands beside the measured values: what is
compared is what they state; see ``reference/abe/SOURCE.md``. The scenarios are the files of
``experiments/abe/``.
"""

from __future__ import annotations

from pathlib import Path

from sojourn.reproduction.card import read as read_card
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
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=cells,
    statements=STATEMENTS,
    sheets=sheets,
    charts=charts,
    drawn=drawn,
)
