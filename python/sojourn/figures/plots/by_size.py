"""A metric of transfers over their sizes."""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.figures.chart import Line, Panel, color_of, dash_of
from sojourn.figures.plots.asked import Asked, label_of, rows_at, title_of
from sojourn.figures.plots.cells import means
from sojourn.json_types import Scalar

#: Values that span a larger factor are on a logarithmic axis.
_LOG_SPAN = 20


def by_size(asked: Asked, facet: Scalar) -> Panel:
    """Means over replications at the geometric middles of the bins, with their intervals; of a
    single run its own values with those of batch means.
    """
    own = [pl.first(name) for name in ("size_low", "size_high", "half_width")]
    places = asked.found.rows.group_by(asked.axes, maintain_order=True).agg(own)
    every = means(asked.found, asked.axes).join(places, on=asked.axes, nulls_equal=True)
    half = pl.coalesce("half", "half_width").cast(pl.Float64)
    lines = []
    for index, hue in enumerate(asked.places(asked.hue)):
        of = rows_at(asked, every, hue, facet).sort("size_low")
        x = np.sqrt(of["size_low"].to_numpy() * of["size_high"].to_numpy().astype(float))
        halves = of.select(half.fill_null(np.nan)).to_series().to_numpy()
        error = halves if np.isfinite(halves).any() else None
        mean, color = of["mean"].to_numpy(), color_of(index)
        lines.append(Line(label_of(asked, hue), x, mean, color, "joined", dash_of(index), error))
    least, most = float(every["mean"].min()), float(every["mean"].max())  # type: ignore[arg-type]
    wide = least > 0 and most > _LOG_SPAN * least
    return Panel(
        "Size of transfers (B)",
        asked.y_label,
        lines,
        from_zero=not wide,
        log_x=True,
        log_y=wide,
        title=title_of(asked, facet),
    )
