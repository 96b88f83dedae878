"""The operating point of each flow over time."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import Chart, Line, Panel, color_of, dash_of, figure
from sojourn.figures.flows import labels
from sojourn.metrics.registry import Values
from sojourn.metrics.samples import ratio
from sojourn.result import Result


@figure("operating_point")
def operating_point(result: Result) -> Chart:
    """Segments in flight, smoothed RTT and throughput per flow, one point per sample."""
    view = result.data.flow
    in_flight = view.where_regular(ratio(view.samples["in_flight_time"], view.span))
    rows = [
        ("In flight (segments)", in_flight, True),
        ("sRTT (ms)", 1e3 * view.srtt, False),
        ("Throughput (Mbit/s)", view.throughput, True),
    ]
    panels = [Panel("Time (s)", label, _lines(result, v), zero) for label, v, zero in rows]
    return Chart(
        "Operating point over time",
        "Segments in flight, smoothed round-trip time and throughput of each flow, per sample.",
        panels,
        stacked=True,
    )


def _lines(result: Result, values: Values) -> list[Line]:
    view = result.data.flow
    times = (view.samples.begins + view.samples.ends) / 2
    return [
        Line(label, times[known], values[known, i], color_of(i), dash=dash_of(i))
        for i, label in enumerate(labels(result))
        if (known := ~np.isnan(values[:, i])).any()
    ]
