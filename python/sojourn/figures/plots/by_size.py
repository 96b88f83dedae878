"""A metric of transfers over their sizes."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.figures.chart import Panel
from sojourn.figures.plots.asked import Asked, Place, line_of, rows_at

#: Values that span a larger factor are on a logarithmic axis.
_LOG_SPAN = 20


def by_size(asked: Asked, place: Place) -> Panel:
    """Means over replications at the geometric middles of the bins, with their intervals; of a
    single run its own values with those of batch means.
    """
    own = [pl.first(name) for name in ("size_low", "size_high", "half_width")]
    places = asked.found.rows.group_by(asked.axes, maintain_order=True).agg(own)
    every = asked.means.join(places, on=asked.axes, nulls_equal=True)
    half = pl.coalesce("half", "half_width").cast(pl.Float64)
    lines = []
    for hue in asked.places(asked.hue):
        of = rows_at(asked, every, place, hue).sort("size_low")
        x = np.sqrt(of["size_low"].to_numpy() * of["size_high"].to_numpy().astype(float))
        halves = of.select(half.fill_null(np.nan)).to_series().to_numpy()
        error = halves if np.isfinite(halves).any() else None
        lines.append(line_of(asked, hue, x, of["mean"].to_numpy(), "joined", error))
    means = every["mean"].to_numpy()
    wide = bool(means.min() > 0 and means.max() > _LOG_SPAN * means.min())
    label = "Size of transfers (B)"
    return Panel(label, asked.y_label, lines, from_zero=not wide, log_x=True, log_y=wide)
