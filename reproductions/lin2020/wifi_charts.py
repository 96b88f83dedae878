"""Figures 12 and 19 over Wi-Fi: transfers, convergence times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sojourn.figures.chart import Boxes, Chart, Line, Panel, color_of
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.section import MEASURED
from sojourn_reproductions.lin2020.values import Values
from sojourn_reproductions.lin2020.wifi_tables import (
    BANDS,
    QUANTILES,
    SIMULATED,
    TRANSFERS,
    at_quantile,
)


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Each figure whose table was run."""
    run = {row["table"] for row in rows}
    made: dict[str, Chart] = {}
    if TRANSFERS in run:
        made[TRANSFERS] = _transfers(rows)
    if SIMULATED in run:
        made[SIMULATED] = _settling(rows)
    return made


def _transfers(rows: Sequence[Row]) -> Chart:
    value = Values(rows, MEASURED)
    names = list(dict.fromkeys(row["row"] for row in rows if row["table"] == TRANSFERS))
    panels = []
    for band in BANDS:
        values = [[value(TRANSFERS, n, at_quantile(band, q)) for q in QUANTILES] for n in names]
        boxes = [Boxes(names, values, color_of(0))]
        panels.append(Panel("", "Goodput (Mbit/s)", [], boxes=boxes, title=f"{band} GHz"))
    return Chart("Figure 12", "Transfers of a large file.", panels)


def _settling(rows: Sequence[Row]) -> Chart:
    value = Values(rows, MEASURED)
    names = list(dict.fromkeys(row["row"] for row in rows if row["table"] == SIMULATED))
    places = [float(index) for index in range(len(names))]
    aside = {"2.4": -0.1, "5": 0.1}
    lines = [
        Line(
            f"{band} GHz",
            [place + aside[band] for place in places],
            [value(SIMULATED, name, f"{band}GHz") for name in names],
            color_of(index),
            "mark",
        )
        for index, band in enumerate(BANDS)
    ]
    ticks = list(zip(places, names, strict=True))
    panel = Panel("", "Convergence time (s)", lines, ticks=ticks)
    return Chart("Figure 19, Wi-Fi", "Means over 30 s of samples.", [panel])
