"""What is drawn, over which axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan

import polars as pl

from sojourn.figures.plots import words
from sojourn.figures.plots.cells import Cells
from sojourn.json_types import Scalar


@dataclass(frozen=True)
class Asked:
    """What is drawn over which axes."""

    found: Cells
    x: str | None
    y_label: str
    hue: str | None
    facet: str | None
    #: Of a scatter plot, whose horizontal axis is another metric.
    x_label: str = ""

    @cached_property
    def axes(self) -> list[str]:
        """The chosen axes."""
        return [axis for axis in (self.x, self.hue, self.facet) if axis is not None]

    def places(self, axis: str | None) -> list[Scalar]:
        """The values of an axis in the order of the grid; one of none."""
        if axis is None:
            return [None]
        return self.found.rows[axis].unique(maintain_order=True).to_list()


def rows_at(asked: Asked, rows: pl.DataFrame, hue: Scalar, facet: Scalar) -> pl.DataFrame:
    """The rows of one colour in one panel."""
    for axis, value in ((asked.hue, hue), (asked.facet, facet)):
        if axis is not None:
            rows = rows.filter(pl.col(axis).eq_missing(value))
    return rows


def title_of(asked: Asked, facet: Scalar) -> str:
    """A name speaks for itself; a number needs its field."""
    if asked.facet is None:
        return ""
    text = words.of_value(str(facet))
    named = isnan(words.quantity(str(facet))[0])
    return text if named else f"{words.of_path(asked.facet)}: {text}"


def label_of(asked: Asked, hue: Scalar) -> str:
    """What the legend calls a colour."""
    if asked.hue is None:
        return ""
    text = words.of_value(str(hue))
    return f"flow {text}" if asked.hue == "flow" else text
