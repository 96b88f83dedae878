"""Intervals from a single run: batch means.

Transfers of one run depend on each other, because they meet in the same queue. Their order
statistics would give an interval as if they did not, which is far too narrow. Long stretches of a
run hardly depend on each other: the run is cut into stretches of equally many transfers, and the
spread of what each says on its own, with Student's t, is the interval. What lasts for longer than a
stretch it does not see; replications do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sojourn.statistics.stopping import t_quantile
from sojourn.statistics.values import Values

#: A run is cut into ten stretches and into five. Where ten still depend on each other, five say
#: more, and the wider interval counts.
STRETCHES = (5, 10)
#: So many values of a tenth of the run are to be expected beyond a quantile, and at least so many
#: in all: fewer give intervals that cover far less than they say, at high load above all.
_BEYOND, _LEAST = 20, 100


def half_width(values: ArrayLike, share: float | None = None) -> float:
    """Half the width of the 95 % confidence interval of a quantile, ``share`` being below it, or
    without one of the mean. ``values`` are in the order of time; NaN where they are too few, or
    all stretches say the same.
    """
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    needed = _LEAST if share is None else max(_LEAST, round(_BEYOND / (1 - share)))
    if len(known) // max(STRETCHES) < needed:
        return np.nan
    return max(_half_width(known, share, count) for count in STRETCHES) or np.nan


def _half_width(known: Values, share: float | None, count: int) -> float:
    stretches = np.array_split(known, count)
    each = [one.mean() if share is None else np.quantile(one, share) for one in stretches]
    return float(t_quantile(count) * np.std(each, ddof=1) / count**0.5)
