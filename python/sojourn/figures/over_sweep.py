"""Figures over a sweep: lines with intervals, heat maps, box plots.

No point of the grid is averaged with another: what has no axis tells lines or panels apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from sojourn.figures.chart import Boxes, Chart, Panel
from sojourn.figures.plots import words
from sojourn.figures.plots.asked import Asked
from sojourn.figures.plots.cells import Cells
from sojourn.figures.plots.kinds import MOST_PANELS, MOST_SERIES, panels
from sojourn.sweeps.table import coordinates_of

#: More boxes or maps than this are no figure.
_MOST_BOXES = 24
_MOST_HEATS = 4
#: The column of what tells lines, or maps, apart.
_REST = "rest"


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


class _Aggregate(Cells):
    """Rows that are means already."""

    def means(self, chosen: Sequence[str]) -> pl.DataFrame:
        """These means with the half widths of their intervals."""
        return self.rows.select(*chosen, "mean", half="ci95")


def lines(chosen: pl.DataFrame, point: Sequence[str], metric: str) -> Chart | str:
    """Means with 95 % confidence intervals over the first numeric path of the grid; names have
    panels of their own.
    """
    varied = _varied(chosen, point)
    numbers = [path for path in varied if not _names(chosen[path])]
    axis = next((path for path in numbers if len(_units(chosen[path])) == 1), None)
    if axis is None:
        return "no path of the grid has two numbers"
    columns, rows = [*(path for path in varied if path not in numbers), None, None][:2]
    rest = [path for path in varied if path not in (axis, columns, rows)]
    told = _told_apart(chosen, rest)
    asked = Asked(_Aggregate(told), axis, words.of_metric(metric), _REST, rows, columns)
    if (count := told[_REST].n_unique()) > MOST_SERIES:
        return f"{count} lines in a panel; a figure holds {MOST_SERIES}"
    if (count := len(asked.panels())) > MOST_PANELS:
        return f"{count} panels; a figure holds {MOST_PANELS}"
    caption = "Mean over replications; bars: its 95 % confidence interval."
    return _chart(asked, "line", metric, caption)


def heat(chosen: pl.DataFrame, point: Sequence[str], metric: str) -> Chart | str:
    """The first two paths of the grid with two values or more against each other."""
    varied = _varied(chosen, point)
    if len(varied) < 2:
        return "the grid does not vary two paths"
    across, up, *rest = varied
    told = _told_apart(chosen, rest)
    every = told[_REST].unique(maintain_order=True)
    shown = told.filter(pl.col(_REST).is_in(every.head(_MOST_HEATS).implode()))
    asked = Asked(_Aggregate(shown), across, words.of_metric(metric), up, columns=_REST)
    caption = "Mean over replications."
    if len(every) > _MOST_HEATS:
        caption += f" The first {_MOST_HEATS} of {len(every)}; summary.csv has all."
    return _chart(asked, "heat", metric, caption)


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
        told = [words.of_value(entry[c]) for c in (*point, "member")]
        names.append(" ".join(filter(None, told)))
    panel = Panel("", words.of_metric(metric), [], boxes=[Boxes(names, values)])
    caption = "Median, quartiles and outliers over replications."
    return Chart(f"{metric} over replications", caption, [panel])


def _varied(chosen: pl.DataFrame, point: Sequence[str]) -> list[str]:
    """The paths with two values or more."""
    return [path for path in point if chosen[path].n_unique() > 1]


def _names(values: pl.Series) -> bool:
    return any(words.is_name(str(value)) for value in values.unique())


def _units(values: pl.Series) -> set[str]:
    return {words.quantity(text)[1] for text in values.unique()}


def _told_apart(chosen: pl.DataFrame, paths: Sequence[str]) -> pl.DataFrame:
    """With a column of the values of the paths, and of whose they are where there are several."""
    members = ["member"] * (chosen["member"].n_unique() > 1)
    columns = [*paths, *members]
    told = [
        ", ".join(words.of_place(path, value) for path, value in zip(columns, row, strict=True))
        for row in chosen.select(columns).iter_rows()
    ]
    return chosen.with_columns(pl.Series(_REST, told or [""] * len(chosen), pl.String))


def _chart(asked: Asked, kind: str, metric: str, caption: str) -> Chart:
    quantity = words.of_metric(metric).partition(" (")[0]
    axes = [asked.x, asked.hue if kind == "heat" else None]
    over = words.listed([words.small(words.of_path(axis)) for axis in axes if axis])
    columns = len(asked.places(asked.columns)) if asked.rows else 0
    return Chart(
        f"{quantity} over {over}", caption, panels(asked, kind), fitted=True, columns=columns
    )
