"""What the figures of the pages show of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from sojourn.figures.chart import BLACK, PALETTE, Chart, Line, Panel, color_of
from sojourn.figures.flows import labels
from sojourn.measured import Measured

_TIME = "time (s)"
#: A window this large is none: `fixed-rate`.
_NO_WINDOW = 1 << 20


def window(result: Measured) -> Chart:
    """Window, segments in flight and smoothed RTT of the first flow over time."""
    samples = result.series.flows.filter(pl.col("flow") == 0)
    limited = samples.filter(pl.col("cwnd") < _NO_WINDOW)
    windows = [
        Line("in flight", samples["time"], samples["in_flight"], PALETTE[5]),
        Line("window", limited["time"], limited["cwnd"], PALETTE[0]),
        *_bdp(result),
    ]
    rtt = Line("", samples["time"], samples["srtt"] * 1e3, PALETTE[0])
    panels = [Panel("", "segments", windows), Panel(_TIME, "smoothed RTT (ms)", [rtt])]
    return Chart("Window", "", panels, stacked=True)


def _bdp(result: Measured) -> Iterator[Line]:
    """The bandwidth-delay product, and twice that: where a FIFO of one product is full."""
    product = result.data.flow.bdp[0]
    ends = [0, result.timing["simulated_seconds"]]
    yield Line("bandwidth-delay product", ends, [product] * 2, BLACK, dash="dashed")
    yield Line("twice that", ends, [2 * product] * 2, BLACK, dash="dotted")


def signals(result: Measured) -> Chart:
    """Throughput of the flows, waiting time in the queue, drops and marks so far."""
    links = result.series.links.filter(pl.col("link") == 0)
    time = links["time"]
    wait = links["sojourn_sum"] / links["sojourn_count"] * 1e3
    drops = links["drops_overflow"] + links["drops_aqm"]
    panels = [
        Panel("", "throughput (Mbit/s)", _throughput(result)),
        Panel("", "waiting time (ms)", [Line("", time, wait, BLACK)]),
        Panel(
            _TIME,
            "packets so far",
            [
                Line("dropped", time, drops.cum_sum(), PALETTE[3], style="step"),
                Line("marked", time, links["ce_marks"].cum_sum(), PALETTE[2], style="step"),
            ],
        ),
    ]
    return Chart("Queue", "", panels, stacked=True)


def rates(result: Measured) -> Chart:
    """Throughput of the flows."""
    return Chart("Rates", "", [Panel(_TIME, "throughput (Mbit/s)", _throughput(result))], True)


def _throughput(result: Measured) -> list[Line]:
    view = result.data.flow
    times = (view.samples.begins + view.samples.ends) / 2
    return [
        Line(label, times[known], view.throughput[known, index], color_of(index))
        for index, label in enumerate(labels(result))
        if (known := ~np.isnan(view.throughput[:, index])).any()
    ]
