"""When something was so: stretches of samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.explain.finding import Stretch
from sojourn.metrics.columns import Values

#: Gaps shorter than this share of the whole time do not part a stretch.
_GAP = 0.05


def longest(mask: NDArray[np.bool_], begins: Values, ends: Values) -> Stretch | None:
    """The longest stretch of intervals in which ``mask`` holds, passing over short gaps; ``None``
    if it never does.
    """
    places = np.flatnonzero(mask)
    if not len(places):
        return None
    gap = _GAP * (ends[-1] - begins[0])
    parted = np.flatnonzero(begins[places[1:]] - ends[places[:-1]] > gap)
    firsts = begins[places[np.concatenate([[0], parted + 1])]]
    lasts = ends[places[np.concatenate([parted, [len(places) - 1]])]]
    longest_one = int(np.argmax(lasts - firsts))
    return float(firsts[longest_one]), float(lasts[longest_one])


def middle_half(counts: Values, begins: Values, ends: Values) -> Stretch | None:
    """When the middle half of the events took place, of which each interval has so many; ``None``
    without any.
    """
    so_far = np.cumsum(counts)
    if not len(so_far) or so_far[-1] <= 0:
        return None
    first, last = np.searchsorted(so_far, [so_far[-1] / 4, 3 * so_far[-1] / 4])
    return float(begins[first]), float(ends[last])


def smoothed(values: Values, length: int) -> Values:
    """Means over so many values up to each, from the first whole one on."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return (sums[length:] - sums[:-length]) / length
