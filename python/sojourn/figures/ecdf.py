"""How throughput and delay are distributed."""

from __future__ import annotations

import numpy as np

from sojourn.figures.chart import Chart, Line, Panel, color_of, dash_of, figure
from sojourn.figures.flows import group_label, grouped, labels
from sojourn.figures.thin import evenly
from sojourn.measured import Measured
from sojourn.metrics.columns import Values, mean

#: A distribution has at most so many steps.
_STEPS = 300


@figure("ecdf")
def ecdf(result: Measured) -> Chart:
    """Empirical distributions of throughput and of smoothed RTT."""
    view = result.data.flow
    columns = [("Throughput (Mbit/s)", view.throughput), ("sRTT (ms)", 1e3 * view.srtt)]
    many = grouped(result)
    if many:
        names = [group_label(group) for group in many]
        drawn = {k: [mean(v)[group.flows] for group in many] for k, v in columns}
        share, of = "Share of flows", "over the flows of each group, of their means"
    else:
        names = labels(result)
        drawn = {label: list(values.T) for label, values in columns}
        share, of = "Share of samples", "over the samples of each flow"
    return Chart(
        "Distribution of throughput and sRTT",
        f"Empirical cumulative distribution {of}.",
        [Panel(label, share, _lines(names, values)) for label, values in drawn.items()],
    )


def _lines(names: list[str], values: list[Values]) -> list[Line]:
    lines = []
    for i, (name, of_one) in enumerate(zip(names, values, strict=True)):
        known = np.sort(of_one[~np.isnan(of_one)])
        if len(known):
            kept = evenly(len(known), _STEPS)
            x = np.concatenate([known[:1], known[kept]])
            y = np.concatenate([[0.0], (kept + 1) / len(known)])
            lines.append(Line(name, x, y, color_of(i), "step", dash_of(i)))
    return lines
