"""Figures over a sweep: lines with confidence bands, heat maps, box plots."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sojourn.figures.chart import (
    Band,
    Boxes,
    Chart,
    Heat,
    Line,
    Panel,
    color_of,
    dash_of,
    zero_between,
)
from sojourn.metrics import metrics
from sojourn.quantity import split
from sojourn.sweeps.table import coordinates_of, short

#: More lines or boxes than this are no figure.
_MOST_LINES = 12
_MOST_BOXES = 24
_MOST_HEATS = 2
#: Horizontal axes that span a larger factor are logarithmic.
_LOG_SPAN = 20


def charts(
    long: pl.DataFrame, samples: pl.LazyFrame, metric: str
) -> Iterator[tuple[str, Chart | str]]:
    """Name of every figure over the grid with its chart, or with why there is none. ``long`` is
    the aggregate with members, ``samples`` the stored runs.
    """
    chosen = long.filter(pl.col("metric") == metric)
    if not len(chosen):
        return
    point = coordinates_of(long)
    yield f"{metric}-lines", lines(chosen, point, metric)
    yield f"{metric}-heat", heat(chosen, point, metric)
    yield f"{metric}-boxes", boxes(chosen, samples, point, metric)


def axis_label(metric: str) -> str:
    """A metric with its unit."""
    unit = next(m.unit for m in metrics() if m.name == metric)
    return metric if unit == "1" else f"{metric} ({unit})"


def lines(chosen: pl.DataFrame, point: Sequence[str], metric: str) -> Chart | str:
    """Mean and 95 % confidence band over the first numeric path of the grid."""
    axis = next((p for p in point if _numeric(chosen[p].unique().to_list())), None)
    if axis is None:
        return "no path of the grid has two numbers"
    others = [*(p for p in point if p != axis), "member"]
    groups = list(chosen.group_by(others, maintain_order=True))
    if len(groups) > _MOST_LINES:
        return f"{len(groups)} lines; a figure holds {_MOST_LINES}"
    drawn, bands = [], []
    for index, (key, group) in enumerate(groups):
        values = [split(text) for text in group[axis]]
        order = np.argsort([value for value, _ in values])
        x = np.array([value for value, _ in values])[order]
        mean = group["mean"].to_numpy()[order]
        half = group["ci95"].fill_null(0.0).to_numpy()[order]
        color = color_of(index)
        drawn.append(Line(_name(key), x, mean, color, dash=dash_of(index)))
        bands.append(Band(x, mean - half, mean + half, color))
    positions = np.asarray(drawn[0].x)
    unit = split(chosen[axis][0])[1]
    panel = Panel(
        f"{short(axis, point)} ({unit})" if unit else short(axis, point),
        axis_label(metric),
        drawn,
        log_x=bool(positions.min() > 0 and positions.max() > _LOG_SPAN * positions.min()),
        bands=bands,
    )
    caption = "Mean over replications; the band is its 95 % confidence interval."
    return Chart(f"{metric} over {short(axis, point)}", caption, [panel])


def heat(chosen: pl.DataFrame, point: Sequence[str], metric: str) -> Chart | str:
    """The first two paths of the grid with two values or more against each other."""
    axes = [p for p in point if chosen[p].n_unique() > 1][:2]
    if len(axes) < 2:
        return "the grid does not vary two paths"
    across, up = (chosen[p].unique(maintain_order=True).to_list() for p in axes)
    every = chosen["member"].unique(maintain_order=True).to_list()
    members = every[:_MOST_HEATS]
    panels = []
    for member in members:
        rows = chosen.filter(pl.col("member") == member)
        means = {(e[axes[0]], e[axes[1]]): e["mean"] for e in _means(rows, axes)}
        values = np.array([[means.get((x, y), np.nan) for x in across] for y in up], float)
        x_label = f"{short(axes[0], point)} ({member})" if member else short(axes[0], point)
        map_ = Heat(across, up, values, axis_label(metric), middle=zero_between(values))
        panels.append(Panel(x_label, short(axes[1], point), [], heat=map_))
    caption = "Mean over replications and over the rest of the grid."
    if len(every) > len(members):
        caption += f" The first {len(members)} of {len(every)}; summary.csv has all."
    return Chart(f"{metric} over the grid", caption, panels)


def boxes(
    chosen: pl.DataFrame, samples: pl.LazyFrame, point: Sequence[str], metric: str
) -> Chart | str:
    """The distribution over replications at each point."""
    entries = chosen.unique([*point, "scope", "id"], maintain_order=True).to_dicts()
    if len(entries) > _MOST_BOXES:
        return f"{len(entries)} boxes; a figure holds {_MOST_BOXES}"
    if max(entry["n"] for entry in entries) < 3:
        return "fewer than three replications"
    names, values = [], []
    for entry in entries:
        match = [pl.col(c).eq_missing(entry[c]) for c in (*point, "scope", "id")]
        drawn = samples.filter(*match).select(pl.col(metric).drop_nulls().cast(pl.Float64))
        values.append(drawn.collect()[metric].to_numpy())
        names.append(_name([entry[c] for c in (*point, "member")]))
    panel = Panel("", axis_label(metric), [], boxes=[Boxes(names, values)])
    caption = "Median, quartiles and outliers over replications."
    return Chart(f"{metric} over replications", caption, [panel])


def _means(rows: pl.DataFrame, axes: Sequence[str]) -> list[dict[str, float | str]]:
    return rows.group_by(axes, maintain_order=True).agg(pl.col("mean").mean()).to_dicts()


def _numeric(values: Sequence[str]) -> bool:
    """Whether the values are numbers or quantities of one kind."""
    parts = [split(value) for value in values]
    return len(values) > 1 and all(not np.isnan(v) for v, _ in parts) and len(_units(parts)) == 1


def _units(parts: Sequence[tuple[float, str]]) -> set[str]:
    return {unit for _, unit in parts}


def _name(key: Sequence[object]) -> str:
    return " ".join(str(part) for part in itertools.chain(key) if part not in (None, ""))
