"""Statistics of metrics over replications, the same to the last bit in whatever order runs came."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: Columns while the aggregate is sorted: the place in its run at which a member first appears, and
#: of transfers in a bin of sizes where it begins.
ORDER, SIZE = "_order", "_size"
#: How many of the replications differ from each other.
DISTINCT = "distinct"
#: A column while the aggregate is made: of how many replications its spread is.
SPREAD = "spread"
_GROUP, _ROW = "_group", "_row"
#: An odd number, so that digests of some columns and of others add up to one of all.
_MIXER = np.uint64(0x9E3779B97F4A7C15)
#: So many metrics are in memory at once.
_AT_ONCE = 8


def over_replications(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    names: Sequence[str],
    every: Sequence[str],
    pilot: int | None,
) -> pl.DataFrame:
    """One row per group of ``keys``; of each metric in ``names`` a struct of its statistics, with
    the deviation of the first ``pilot`` replications, or of all. Replications that agree in
    ``every`` metric of the member are identical. Rows are sorted before anything is added up.
    """
    told = [*keys, "key", "point", "replication"]
    size = pl.col("size_low") if "size_low" in rows.collect_schema() else pl.lit(None)
    head = rows.select(*told, size.cast(pl.Int64).alias(SIZE)).collect(engine="streaming")
    head = head.with_row_index(_ROW).with_columns(pl.int_range(pl.len()).over("point").alias(ORDER))
    head = head.sort(*keys, "replication", "key", ORDER).drop("key", "point")
    head = head.with_columns(pl.struct(keys).rle_id().alias(_GROUP))
    members = head.group_by(_GROUP, maintain_order=True).agg(
        pl.col(*keys).first(), pl.min(ORDER), pl.min(SIZE)
    )
    first = None if pilot is None else (head["replication"] < pilot).to_numpy()
    groups = _Groups(head[_ROW].to_numpy(), head[_GROUP].to_numpy(), first)
    del head  # so that its memory is there for the values
    found: dict[str, pl.Series] = {}
    digests = np.zeros(len(groups.of), np.uint64)
    for begin in range(0, len(every), _AT_ONCE):
        values = rows.select(every[begin : begin + _AT_ONCE]).collect(engine="streaming")
        digests = digests * _MIXER + values.hash_rows().to_numpy()
        found |= {
            n: groups.statistics(values[n].cast(pl.Float64)) for n in values.columns if n in names
        }
    return members.drop(_GROUP).with_columns(groups.distinct(digests), **found)


class _Groups:
    """Rows in groups."""

    def __init__(
        self,
        rows: NDArray[np.uint32],
        groups: NDArray[np.uint32],
        first: NDArray[np.bool_] | None,
    ) -> None:
        """``rows`` in the order of ``groups``; ``first`` are those that spread is told of."""
        self._rows = rows
        self.of = groups
        self._first = first
        self._starts = np.flatnonzero(np.diff(groups, prepend=-1))

    def statistics(self, column: pl.Series) -> pl.Series:
        """A struct per group; nulls count for nothing."""
        values = column.to_numpy()[self._rows]
        known = ~np.isnan(values)
        spread = known if self._first is None else known & self._first
        n, of = self._sum(known), self._sum(spread)
        mean = self._mean(values, known)
        aside = np.where(spread, values - self._mean(values, spread)[self.of], 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            std = np.sqrt(self._sum(aside**2) / np.where(of > 1, of - 1, np.nan))
        told = {
            "mean": mean,
            "std": pl.Series(std).fill_nan(None),
            SPREAD: pl.Series(of, dtype=pl.UInt32),
            "n": pl.Series(n, dtype=pl.UInt32),
            "min": np.fmin.reduceat(values, self._starts) if len(values) else values,
            "max": np.fmax.reduceat(values, self._starts) if len(values) else values,
        }
        return pl.DataFrame(told).to_struct(column.name)

    def distinct(self, digests: NDArray[np.uint64]) -> pl.Series:
        """How many of the rows in each group differ."""
        rows = pl.DataFrame({_GROUP: self.of, DISTINCT: digests[self._rows]})
        return rows.group_by(_GROUP, maintain_order=True).n_unique()[DISTINCT]

    def _mean(self, values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._sum(np.where(chosen, values, 0.0)) / self._sum(chosen)

    def _sum(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        numbers = values.astype(float)
        return np.add.reduceat(numbers, self._starts) if len(numbers) else numbers
