"""What is drawn, over which axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import polars as pl
from numpy.typing import ArrayLike

from sojourn.figures.chart import DASHES, MARKERS, Line, Style, color_of
from sojourn.figures.plots import words
from sojourn.figures.plots.cells import Cells
from sojourn.json_types import Scalar

#: The values of the axes of rows and columns at one panel.
Place = tuple[Scalar, Scalar]


@dataclass(frozen=True)
class Asked:
    """What is drawn over which axes."""

    found: Cells
    x: str | None
    y_label: str
    hue: str | None = None
    #: One row, and one column, of panels for each value.
    rows: str | None = None
    columns: str | None = None
    #: Of a scatter plot, whose horizontal axis is another metric.
    x_label: str = ""

    @cached_property
    def axes(self) -> list[str]:
        """The chosen axes."""
        chosen = (self.x, self.hue, self.rows, self.columns)
        return list(dict.fromkeys(axis for axis in chosen if axis is not None))

    @cached_property
    def means(self) -> pl.DataFrame:
        """The means at the places of these axes, with half widths of their intervals."""
        return self.found.means(self.axes)

    def places(self, axis: str | None) -> list[Scalar]:
        """The values of an axis in the order of the grid; one of none."""
        if axis is None:
            return [None]
        return self.found.rows[axis].unique(maintain_order=True).to_list()

    def panels(self) -> list[Place]:
        """Row by row."""
        return list(product(self.places(self.rows), self.places(self.columns)))


def in_panel(asked: Asked, rows: pl.DataFrame, place: Place) -> pl.DataFrame:
    """The rows of one panel."""
    for axis, value in zip((asked.rows, asked.columns), place, strict=True):
        if axis is not None:
            rows = rows.filter(pl.col(axis).eq_missing(value))
    return rows


def rows_at(asked: Asked, rows: pl.DataFrame, place: Place, hue: Scalar) -> pl.DataFrame:
    """The rows of one colour in one panel."""
    rows = in_panel(asked, rows, place)
    return rows if asked.hue is None else rows.filter(pl.col(asked.hue).eq_missing(hue))


def label_of(asked: Asked, hue: Scalar) -> str:
    """What the legend calls a colour."""
    if asked.hue is None:
        return ""
    text = words.of_value(hue)
    return f"flow {text}" if asked.hue == "flow" else text


def line_of(
    asked: Asked,
    hue: Scalar,
    x: ArrayLike,
    y: ArrayLike,
    style: Style = "line",
    error: ArrayLike | None = None,
) -> Line:
    """The line of one colour: dashes and marks tell it from others in print, too."""
    index = asked.places(asked.hue).index(hue)
    dash, marker = DASHES[index % len(DASHES)], MARKERS[index % len(MARKERS)]
    return Line(label_of(asked, hue), x, y, color_of(index), style, dash, error, marker)
