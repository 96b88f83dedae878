"""Columns of samples as matrices, and the arithmetic of undefined values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.quantity import number

Values = NDArray[np.float64]
#: A column as the core hands it out: numbers, one for each row.
Column = NDArray[np.number]
Table = Mapping[str, Column]
# Interval ends are whole nanoseconds written as seconds: compare with a tenth of one to spare.
EPSILON = 1e-10


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Values:
    """``numerator / denominator``, NaN where the denominator is zero."""
    over, under = np.broadcast_arrays(
        np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    )
    out = np.full(over.shape, np.nan)
    np.divide(over, under, out=out, where=under != 0)
    return out


def mean(samples: Values) -> Values:
    """Mean over the first axis, NaN left out; NaN where nothing is left."""
    known = ~np.isnan(samples)
    return ratio(np.where(known, samples, 0.0).sum(axis=0), known.sum(axis=0))


def deviation(samples: Values) -> Values:
    """Population standard deviation over the first axis, NaN left out."""
    return np.sqrt(mean((samples - mean(samples)) ** 2))


def rate_of(link: Link) -> float:
    """A link's rate in bit/s, infinite if it has none."""
    return number(link["rate"]) if link["rate"] else np.inf


class Link(TypedDict):
    """A link as it was built."""

    id: str
    #: A quantity, as is the overhead; ``None`` for a link that is no limit.
    rate: str | None
    #: Of each packet, beside its bytes.
    overhead: str | None
    #: Names of nodes; ``None`` for many hosts.
    ends: Sequence[str | None]


class Samples:
    """The columns of one table as matrices [interval, member]."""

    def __init__(self, table: Table, members: int) -> None:
        self._table = table
        self._members = members
        ends = np.asarray(table["time"], dtype=float).reshape(-1, members) if members else None
        self.ends: Values = ends[:, 0] if ends is not None else np.empty(0)
        self.begins: Values = (
            np.concatenate([[0.0], self.ends[:-1]]) if len(self.ends) else self.ends
        )
        self._matrices: dict[str, Values] = {}

    def __getitem__(self, column: str) -> Values:
        """The column as a matrix [interval, member] of doubles."""
        if column not in self._matrices:
            values = np.asarray(self._table[column], dtype=float)
            self._matrices[column] = values.reshape(-1, self._members)
        return self._matrices[column]
