"""Fewer points that look the same: what a figure draws does not grow with the samples."""

from __future__ import annotations

import numpy as np

from sojourn.metrics.columns import Values

#: About as many points of all lines of a panel, but of each line at least and at most so many.
_POINTS, _FEWEST, _MOST = 6000, 300, 1500


def share(lines: int) -> int:
    """How many points each of so many lines of a panel may have."""
    return min(_MOST, max(_FEWEST, _POINTS // max(lines, 1)))


def outline(x: Values, y: Values, most: int) -> tuple[Values, Values]:
    """The lowest and the highest point of each of ``most / 2`` stretches: peaks stay."""
    if len(x) <= most:
        return x, y
    parts = np.array_split(np.arange(len(x)), most // 2)
    kept = sorted({i for part in parts for i in (part[y[part].argmin()], part[y[part].argmax()])})
    return x[kept], y[kept]


def evenly(count: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """At most ``most`` indices of ``count``, the first and the last among them."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(np.intp)


def binned(values: Values, most: int) -> Values:
    """Means over the first axis in at most ``most`` stretches of equal length, NaN left out."""
    if len(values) <= most:
        return values
    begins = np.arange(0, len(values), _size(len(values), most))
    known = ~np.isnan(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), begins)
    counts = np.add.reduceat(known.astype(float), begins)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def last_of_binned(count: int, most: int) -> list[int]:
    """The indices with which the stretches of :func:`binned` end."""
    size = _size(count, most)
    return [min(begin + size, count) - 1 for begin in range(0, count, size)]


def _size(count: int, most: int) -> int:
    return max(1, -(-count // most))
