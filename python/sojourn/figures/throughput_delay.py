"""Throughput against delay."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import BLACK, Chart, Line, Panel, Style, color_of, figure
from sojourn.figures.flows import best_and_worst, group_label, grouped, labels
from sojourn.figures.thin import evenly
from sojourn.groups import Group
from sojourn.measured import Measured
from sojourn.metrics.aggregate import mean_agg_throughput
from sojourn.metrics.columns import Values, mean

#: So many small points of a flow, or of a group, are drawn.
_POINTS = 300
_FLOWS_TOLD = (
    f"Samples (small, {_POINTS} of a flow at most) and mean (large) of each flow. Joint: "
    "throughput of all flows together and the mean of their sRTTs. Optimal (star): the "
    "bottleneck's rate at the base RTT."
)
_GROUPS_TOLD = (
    f"Mean of each flow (small, {_POINTS} of a group at most) and median of each group (large). "
    "Mean flow: the mean over all flows. Fair (star): an equal share of the bottleneck's rate at "
    "the least base RTT."
)
#: Marks of the flows with the highest and the lowest throughput.
_ENDS: tuple[Style, ...] = ("up", "down")


@figure("throughput_delay")
def throughput_delay(result: Measured) -> Chart:
    """Throughput against smoothed RTT: samples, means, joint and optimal operating points."""
    many = grouped(result)
    lines = _of_groups(result, many) if many else _of_flows(result)
    panel = Panel("sRTT (ms)", "Throughput (Mbit/s)", lines, from_zero=False)
    return Chart("Throughput against sRTT", _GROUPS_TOLD if many else _FLOWS_TOLD, [panel])


def _of_flows(result: Measured) -> list[Line]:
    view = result.data.flow
    srtt = 1e3 * view.srtt
    means = zip(mean(srtt), mean(view.throughput), strict=True)
    lines = []
    for i, (name, (x, y)) in enumerate(zip(labels(result), means, strict=True)):
        if not (np.isnan(x) or np.isnan(y)):
            lines.append(_cloud(srtt[:, i], view.throughput[:, i], color_of(i)))
            lines.append(Line(name, [x], [y], color_of(i), "mark"))
    return [*lines, *_joint(result)]


def _of_groups(result: Measured, many: list[Group]) -> list[Line]:
    srtt = 1e3 * mean(result.data.flow.srtt)
    throughput = mean(result.data.flow.throughput)
    clouds, marks = [], []
    for i, group in enumerate(many):
        x, y = srtt[group.flows], throughput[group.flows]
        order = np.argsort(y)
        clouds.append(_cloud(x[order], y[order], color_of(i)))
        if not (np.isnan(x).all() or np.isnan(y).all()):
            median = [np.nanmedian(x)], [np.nanmedian(y)]
            marks.append(Line(group_label(group), *median, color_of(i), "mark"))
    ends = [
        Line(name, [srtt[i]], [throughput[i]], BLACK, style)
        for style, (name, i) in zip(_ENDS, best_and_worst(result), strict=False)
    ]
    return [*clouds, *marks, *ends, *_average(result)]


def _cloud(x: Values, y: Values, color: str) -> Line:
    known = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    kept = known[evenly(len(known), _POINTS)]
    return Line("", x[kept], y[kept], color, "points")


def _joint(result: Measured) -> list[Line]:
    """Throughput of all flows together, and what the bottleneck has to give."""
    throughput = mean_agg_throughput(result.data)
    return [*_at_mean_srtt("joint", result, throughput), *_optimum("optimal", result, 1)]


def _average(result: Measured) -> list[Line]:
    """The same for one flow of many."""
    count = result.data.flow.count
    throughput = mean_agg_throughput(result.data) / count
    return [*_at_mean_srtt("mean flow", result, throughput), *_optimum("fair", result, count)]


def _at_mean_srtt(name: str, result: Measured, throughput: float) -> list[Line]:
    srtt = 1e3 * float(mean(mean(result.data.flow.srtt)[:, None])[0])
    return [] if np.isnan(srtt) else [Line(name, [srtt], [throughput], BLACK, "mark")]


def _optimum(name: str, result: Measured, count: int) -> list[Line]:
    view = result.data.flow
    if np.isnan(view.bottleneck_rate).all():
        return []
    rate = np.nanmax(view.bottleneck_rate) / 1e6 / count
    return [Line(name, [1e3 * view.base_rtt.min()], [rate], BLACK, "star")]
