"""Throughput against delay."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import BLACK, Chart, Line, Panel, color_of, figure
from sojourn.figures.flows import labels
from sojourn.metrics.samples import mean
from sojourn.result import Result


@figure("throughput_delay")
def throughput_delay(result: Result) -> Chart:
    """Throughput against smoothed RTT: samples, means, joint and optimal operating points."""
    panel = Panel(
        "sRTT (ms)", "Throughput (Mbit/s)", [*_flows(result), *_joint(result)], from_zero=False
    )
    return Chart(
        "Throughput against sRTT",
        "Samples (small) and mean (large) of each flow. Joint: throughput of all flows together "
        "and the mean of their sRTTs. Optimal (star): the bottleneck's rate at the base RTT.",
        [panel],
    )


def _flows(result: Result) -> list[Line]:
    view = result.data.flow
    srtt = 1e3 * view.srtt
    means = zip(mean(srtt), mean(view.throughput), strict=True)
    lines = []
    for i, (label, (x, y)) in enumerate(zip(labels(result), means, strict=True)):
        if np.isnan(x) or np.isnan(y):
            continue
        lines.append(Line("", srtt[:, i], view.throughput[:, i], color_of(i), "points"))
        lines.append(Line(label, [x], [y], color_of(i), "mark"))
    return lines


def _joint(result: Result) -> list[Line]:
    view, net = result.data.flow, result.net.row(0, named=True)
    if not view.count:
        return []
    srtt = 1e3 * float(mean(mean(view.srtt)[:, None])[0])
    throughput = net["mean_agg_throughput_l4"]
    lines = [Line("joint", [srtt], [throughput], BLACK, "mark")]
    if not np.isnan(view.bottleneck_rate).all():
        rtt, rate = 1e3 * view.base_rtt.min(), np.nanmax(view.bottleneck_rate) / 1e6
        lines.append(Line("optimal", [rtt], [rate], BLACK, "star"))
    return lines
