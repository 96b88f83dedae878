"""The operating point of each flow over time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.figures.chart import (
    BLACK,
    Band,
    Chart,
    Line,
    Panel,
    color_of,
    dash_of,
    figure,
)
from sojourn.figures.flows import BANDS, best_and_worst, group_label, grouped, labels
from sojourn.figures.thin import binned, outline, share
from sojourn.groups import Group, quantiles
from sojourn.measured import Measured
from sojourn.metrics.columns import Values, ratio

#: A median and its band have at most so many points.
_POINTS = 300


@figure("operating_point")
def operating_point(result: Measured) -> Chart:
    """Segments in flight, smoothed RTT and throughput over time."""
    many = grouped(result)
    ends = best_and_worst(result) if many else []
    panels = [
        _of_groups(result, many, ends, label, values, zero)
        if many
        else Panel("Time (s)", label, _of_flows(result, values), zero)
        for label, values, zero in _rows(result)
    ]
    told = BANDS if many else "Of each flow, per sample."
    return Chart(
        "Operating point over time",
        f"Segments in flight, smoothed round-trip time and throughput. {told}",
        panels,
        stacked=True,
    )


def _rows(result: Measured) -> Iterator[tuple[str, Values, bool]]:
    """Label, values and whether they begin at zero: one after the other, as those of a long run
    take much memory.
    """
    view = result.data.flow
    in_flight = ratio(view.samples["in_flight_time"], view.span)
    yield "In flight (segments)", view.where_regular(in_flight), True
    del in_flight
    yield "sRTT (ms)", 1e3 * view.srtt, False
    yield "Throughput (Mbit/s)", view.throughput, True


def _times(result: Measured) -> Values:
    samples = result.data.flow.samples
    return (samples.begins + samples.ends) / 2


def _of_flows(result: Measured, values: Values) -> list[Line]:
    names, times = labels(result), _times(result)
    points = share(len(names))
    return [
        Line(name, *outline(times[known], values[known, i], points), color_of(i), dash=dash_of(i))
        for i, name in enumerate(names)
        if (known := ~np.isnan(values[:, i])).any()
    ]


def _of_groups(
    result: Measured,
    many: list[Group],
    ends: list[tuple[str, int]],
    label: str,
    values: Values,
    from_zero: bool,
) -> Panel:
    times, values = binned(_times(result), _POINTS), binned(values, _POINTS)
    lines, bands = [], []
    for index, group in enumerate(many):
        low, middle, high = quantiles(values[:, group.flows], (0.05, 0.5, 0.95))
        known = ~np.isnan(middle)
        color = color_of(index)
        lines.append(Line(group_label(group), times[known], middle[known], color))
        bands.append(Band(times[known], low[known], high[known], color))
    for dash, (name, i) in zip(("dashed", "dotted"), ends, strict=False):
        known = ~np.isnan(values[:, i])
        lines.append(Line(name, times[known], values[known, i], BLACK, dash=dash))
    return Panel("Time (s)", label, lines, from_zero, bands=bands)
