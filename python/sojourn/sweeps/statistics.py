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
_GROUP, _ROW, _HASH = "_group", "_row", "_hash"
#: So many metrics are in memory at once.
_AT_ONCE = 16


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
    digest = pl.struct(every or ["scope"]).hash().alias(_HASH)
    head = rows.select(*told, size.cast(pl.Int64).alias(SIZE), digest).collect(engine="streaming")
    head = head.with_row_index(_ROW).with_columns(pl.int_range(pl.len()).over("point").alias(ORDER))
    head = head.sort(*keys, "replication", "key", ORDER)
    head = head.with_columns(pl.struct(keys).rle_id().alias(_GROUP))
    members = head.group_by(_GROUP, maintain_order=True).agg(
        pl.col(*keys).first(), pl.min(ORDER), pl.col(_HASH).n_unique().alias(DISTINCT), pl.min(SIZE)
    )
    first = None if pilot is None else (head["replication"] < pilot).to_numpy()
    groups = _Groups(head[_ROW].to_numpy(), head[_GROUP].to_numpy(), first)
    found: dict[str, pl.Series] = {}
    for begin in range(0, len(names), _AT_ONCE):
        some = pl.col(names[begin : begin + _AT_ONCE]).cast(pl.Float64)
        values = rows.select(some).collect(engine="streaming")
        found |= {column.name: groups.statistics(column) for column in values}
    return members.drop(_GROUP).with_columns(**found)


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
        self._groups = groups
        self._first = first
        self._starts = np.flatnonzero(np.diff(groups, prepend=-1))

    def statistics(self, column: pl.Series) -> pl.Series:
        """A struct per group; nulls count for nothing."""
        values = column.to_numpy()[self._rows]
        known = ~np.isnan(values)
        spread = known if self._first is None else known & self._first
        n, of = self._sum(known), self._sum(spread)
        mean = self._mean(values, known)
        aside = np.where(spread, values - self._mean(values, spread)[self._groups], 0.0)
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

    def _mean(self, values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._sum(np.where(chosen, values, 0.0)) / self._sum(chosen)

    def _sum(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        numbers = values.astype(float)
        return np.add.reduceat(numbers, self._starts) if len(numbers) else numbers
