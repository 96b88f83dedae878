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

#: Stretches of a run: few long ones, as short ones depend on each other.
BATCHES = 10
#: So many values of each stretch are to be expected beyond a quantile, and at least so many in all.
_BEYOND, _LEAST = 2, 10


def half_width(values: ArrayLike, share: float | None = None) -> float:
    """Half the width of the 95 % confidence interval of a quantile, ``share`` being below it, or
    without one of the mean. ``values`` are in the order of time; NaN where they are too few, or
    all stretches say the same.
    """
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    needed = _LEAST if share is None else max(_LEAST, round(_BEYOND / (1 - share)))
    if len(known) // BATCHES < needed:
        return np.nan
    batches = np.array_split(known, BATCHES)
    each = [batch.mean() if share is None else np.quantile(batch, share) for batch in batches]
    spread = float(np.std(each, ddof=1))
    return float(t_quantile(BATCHES)) * spread / BATCHES**0.5 if spread else np.nan
