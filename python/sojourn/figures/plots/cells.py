"""Cells of a figure: what is drawn at one place, of which replications, over what averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.plots import words
from sojourn.figures.plots.source import MEMBERS
from sojourn.names import unknown
from sojourn.sweeps.table import half_width

#: Columns of values that are no axes.
_NO_AXES = ("key", "replication", "pilot", "value", "text", "size_low", "size_high", "half_width")


@dataclass(frozen=True)
class Cells:
    """Values at the places of a figure."""

    #: Columns: the chosen axes, ``replication``, ``pilot`` and ``value``, one row per value.
    rows: pl.DataFrame
    #: What is averaged or pooled over, in words.
    over: Sequence[str] = ()

    def means(self, chosen: Sequence[str]) -> pl.DataFrame:
        """Mean and half width of its 95 % confidence interval at each place: ``mean``, ``half``."""
        return _means(self.rows, chosen)


def axes_of(rows: pl.DataFrame) -> list[str]:
    """What may be chosen as an axis."""
    return [name for name in rows.columns if name not in _NO_AXES]


def check(chosen: Mapping[str, str | None], rows: pl.DataFrame) -> None:
    """Refuses an option's axis that there is not."""
    for option, axis in chosen.items():
        if axis is not None and axis not in axes_of(rows):
            raise ScenarioError(f"{option}: {unknown('axis', axis, axes_of(rows))}")


def kept(rows: pl.DataFrame, where: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """The rows at which each of the axes has one of its values."""
    for axis in dict.fromkeys(axis for axis, _ in where):
        check({"--where": axis}, rows)
        known, values = _known(rows, axis), [value for each, value in where if each == axis]
        for value in values:
            if value not in known:
                raise ScenarioError(f"--where {axis}: {unknown('value', value, known)}")
        rows = rows.filter(pl.col(axis).cast(pl.String).is_in(values))
    return rows


def mixed(rows: pl.DataFrame, chosen: Sequence[str]) -> dict[str, list[str]]:
    """The axes of which one place of a figure over the ``chosen`` ones has several values, with
    all of their values.
    """
    places = rows.group_by(chosen or pl.lit(0))
    others = [a for a in axes_of(rows) if a not in chosen and rows[a].n_unique() > 1]
    most = places.agg(pl.col(others).n_unique()).select(pl.col(others).max())
    return {axis: _known(rows, axis) for axis in others if most[axis].item() > 1}


def names_mixed(rows: pl.DataFrame, chosen: Sequence[str]) -> dict[str, list[str]]:
    """Those of which no mean is taken: names, such as congestion controls. Numbers, flows of one
    control and replications may share a place.
    """
    return {
        axis: values
        for axis, values in mixed(rows, chosen).items()
        if axis != "flow" and (axis == "result" or any(map(words.is_name, values)))
    }


def cells(rows: pl.DataFrame, chosen: Sequence[str]) -> Cells:
    """The values by the chosen axes, which leave no names mixed."""
    over = []
    for axis, values in mixed(rows, chosen).items():
        count = f"{len(values)} {words.of_path(axis).lower()}s"
        name = words.small(words.of_path(axis))
        over.append(count if axis in MEMBERS else f"{len(values)} values of {name}")
    each = rows.group_by(chosen or pl.lit(0)).agg(pl.col("replication").n_unique())
    counts = each["replication"].sort().to_list()
    least, most = counts[0], counts[-1]
    if rows["replication"].n_unique() > 1:
        over.append(f"{least} to {most} replications" if least != most else f"{most} replications")
    return Cells(rows, over)


def _means(rows: pl.DataFrame, chosen: Sequence[str]) -> pl.DataFrame:
    """Mean and half width of its 95 % confidence interval at each place: of each replication's
    own mean, because what shares a replication is not independent. Where the first replications
    said how many there are, the interval is made of their spread, and those replications count
    that are at every point that a place averages over.
    """
    each = rows.group_by(*chosen, "replication", maintain_order=True).agg(
        pl.col("value").mean(), pl.len().alias("size"), pl.col("pilot").first()
    )
    size, told = pl.col("size"), pl.col("pilot").is_null()
    each = each.filter(told | (size == (size.max().over(*chosen) if chosen else size.max())))
    first = told | (pl.col("replication") < pl.col("pilot"))
    value = pl.col("value")
    of = each.group_by(*chosen, maintain_order=True).agg(
        value.mean().alias("mean"),
        value.filter(first).std().alias("std"),
        value.filter(first).count().alias("spread"),
        value.count().alias("n"),
    )
    identical = (pl.col("spread") < 2) | (pl.col("std") == 0)
    wide = of.with_columns(half=half_width(of["std"], of["n"], of["spread"]))
    return wide.with_columns(half=pl.when(identical).then(None).otherwise("half"))


def _known(rows: pl.DataFrame, axis: str) -> list[str]:
    return [str(v) for v in rows[axis].drop_nulls().unique(maintain_order=True)]
