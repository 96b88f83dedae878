"""What receivers measure of every packet: one-way delays, jitter, and runs of losses.

From the end of the warm-up to the end of the run, of flows with ``packet_metrics`` and of those of
a transport without a congestion control. Only simulated receivers measure.
"""

from __future__ import annotations

import numpy as np

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

_EMPTY = "null unless the receiver measures packets (packet_metrics)"
_ORDINALS = {50: "median", 95: "95th percentile", 99: "99th percentile"}


def _measured(run: RunData, column: str) -> Values:
    """A figure of each flow's receiver; NaN where nobody measured, as on kernels."""
    unknown = np.full(run.flow.count, np.nan)
    return np.asarray(run.flow.table.get(column, unknown), dtype=float)


def _quantiles(name: str, column: str, quantity: str, sampling: str, summary: str) -> None:
    """The quantiles of a delay."""
    for percent, ordinal in _ORDINALS.items():

        def compute(run: RunData, percent: int = percent) -> Values:
            return 1e3 * _measured(run, f"{column}_p{percent}")

        compute.__doc__ = summary
        metric(
            "flow",
            f"p{percent}_{name}",
            quantity=quantity,
            unit="ms",
            aggregator=ordinal,
            sampling=sampling,
            empty=_EMPTY,
            better="lower",
        )(compute)


_quantiles(
    "one_way_delay_l4",
    "arrival",
    "one-way delay of packets",
    "data packet",
    "From a packet's sending to its arrival, retransmissions being packets of their own.",
)
_quantiles(
    "one_way_delay_l7",
    "delivery",
    "one-way delay",
    "segment",
    "From the application's write to delivery in order, residence in the send buffer included.",
)


@metric(
    "flow",
    "mean_jitter_l4",
    quantity="jitter",
    unit="ms",
    aggregator="mean",
    sampling="data packet",
    empty=_EMPTY,
    better="lower",
)
def mean_jitter(run: RunData) -> Values:
    """Interarrival jitter as RFC 3550 (6.4.1) estimates it at each arrival."""
    return 1e3 * _measured(run, "jitter")


@metric(
    "flow",
    "total_loss_runs_l4",
    quantity="loss runs",
    unit="count",
    aggregator="total",
    sampling="run of losses",
    empty=_EMPTY,
    better="lower",
)
def total_loss_runs(run: RunData) -> Values:
    """Runs of consecutive packets of the sender that never arrived."""
    return _measured(run, "loss_runs")


@metric(
    "flow",
    "mean_loss_run_l4",
    quantity="length of a loss run",
    unit="packets",
    aggregator="mean",
    sampling="run of losses",
    empty="null if nothing was lost",
    better="lower",
)
def mean_loss_run(run: RunData) -> Values:
    """Packets lost in a row."""
    return ratio(_measured(run, "lost_packets"), _measured(run, "loss_runs"))


@metric(
    "flow",
    "max_loss_run_l4",
    quantity="length of a loss run",
    unit="packets",
    aggregator="maximum",
    sampling="run of losses",
    empty=_EMPTY,
    better="lower",
)
def max_loss_run(run: RunData) -> Values:
    """Most packets lost in a row; 0 if nothing was lost."""
    return _measured(run, "longest_loss_run")


@metric(
    "flow",
    "packet_loss_l4",
    quantity="share of packets",
    unit="%",
    aggregator="ratio of totals",
    sampling="packet",
    empty=_EMPTY,
    better="lower",
)
def packet_loss(run: RunData) -> Values:
    """Packets of the sender that never arrived, of those up to the latest that did."""
    return 100 * ratio(_measured(run, "lost_packets"), _measured(run, "expected_packets"))
