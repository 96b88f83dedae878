"""Columns of samples as matrices, and the arithmetic of undefined values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sojourn.quantity import number

Values = NDArray[np.float64]
#: A column as the core hands it out: numbers, one for each row.
Column = NDArray[np.number]
Table = Mapping[str, Column]
#: Bytes of matrices that are kept for the next metric that needs them.
MOST_KEPT = 16_000_000
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


def overhead_of(link: Link) -> float:
    """Bytes that a link adds to each packet."""
    return number(link["overhead"]) if link["overhead"] else 0.0


class Link(TypedDict):
    """A link as it was built."""

    id: str
    #: A quantity, as is the overhead; ``None`` for a link that is no limit.
    rate: str | None
    #: Of each packet, beside its bytes.
    overhead: str | None
    #: Names of nodes; ``None`` for many hosts.
    ends: Sequence[str | None]


class LastUsed:
    """Matrices that are made when they are asked for, of which those asked for last are kept: as
    many as :data:`MOST_KEPT` allows, and always the last one, which loops ask for again and again.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Values] = OrderedDict()

    def get(self, name: str, make: Callable[[], Values]) -> Values:
        """The matrix of this name, made anew unless it is kept."""
        matrix = self._kept[name] if name in self._kept else make()
        self._kept[name] = matrix
        self._kept.move_to_end(name)
        while self.bytes > MOST_KEPT and len(self._kept) > 1:
            self._kept.popitem(last=False)
        return matrix

    @property
    def bytes(self) -> int:
        """What the kept ones take."""
        return sum(matrix.nbytes for matrix in self._kept.values())


class Samples:
    """The columns of one table as matrices [interval, member]."""

    def __init__(self, table: Table, members: int) -> None:
        self._table = table
        self._members = members
        ends = np.asarray(table["time"], dtype=float).reshape(-1, members) if members else None
        self.ends: Values = ends[:, 0].copy() if ends is not None else np.empty(0)
        self.begins: Values = (
            np.concatenate([[0.0], self.ends[:-1]]) if len(self.ends) else self.ends
        )
        self.kept = LastUsed()

    def __getitem__(self, column: str) -> Values:
        """The column as a matrix [interval, member] of doubles."""
        return self.kept.get(column, lambda: self._matrix(column))

    def _matrix(self, column: str) -> Values:
        return np.asarray(self._table[column], dtype=float).reshape(len(self.ends), self._members)
