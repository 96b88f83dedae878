"""Values of replications, intervals, and how sure these are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95

Values = NDArray[np.float64]


class Interval(NamedTuple):
    """From where to where."""

    low: float
    high: float


def defined(values: ArrayLike) -> Values:
    """The values that are numbers."""
    array = np.asarray(values, dtype=float)
    return array[~np.isnan(array)]
