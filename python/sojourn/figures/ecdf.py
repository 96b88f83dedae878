"""How throughput and delay of each flow are distributed."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import Chart, Line, Panel, color_of, dash_of, figure
from sojourn.figures.flows import labels
from sojourn.metrics.registry import Values
from sojourn.result import Result


@figure("ecdf")
def ecdf(result: Result) -> Chart:
    """Empirical distribution of the samples of throughput and of smoothed RTT."""
    view = result.data.flow
    columns = [("Throughput (Mbit/s)", view.throughput), ("sRTT (ms)", 1e3 * view.srtt)]
    panels = [Panel(label, "Share of samples", _lines(result, v)) for label, v in columns]
    return Chart(
        "Distribution of throughput and sRTT",
        "Empirical cumulative distribution over the samples of each flow.",
        panels,
    )


def _lines(result: Result, values: Values) -> list[Line]:
    lines = []
    for i, label in enumerate(labels(result)):
        known = np.sort(values[~np.isnan(values[:, i]), i])
        if len(known):
            x = np.concatenate([known[:1], known])
            y = np.arange(len(known) + 1) / len(known)
            lines.append(Line(label, x, y, color_of(i), "step", dash_of(i)))
    return lines
