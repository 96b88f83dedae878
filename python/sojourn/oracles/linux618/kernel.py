"""What the kernel did: the measured grid of Linux 6.18."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import polars as pl

from sojourn import data

SETUP = ("flows", "rate_mbit", "rtt_ms", "buffer_packets", "loss", "duration_s")
#: An experiment, and what changes in it, are named by the rows that came later; else empty.
KEYS = (*SETUP, "flow", "cca", "experiment", "changes")
#: The kernel's columns and the metrics that measure the same.
METRICS = {
    "goodput": "mean_throughput_l4",
    "mean_srtt": "mean_srtt_l4",
    "mean_cwnd": "mean_cwnd_l4",
    "retrans": "total_retransmissions_l4",
}


@dataclass(frozen=True)
class Spread:
    """A kernel value over its repetitions."""

    mean: float
    low: float
    high: float
    runs: int = 1


#: The same for the rows that came later.
LIVE_METRICS = {**METRICS, "completion_s": "flow_completion_time_l4"}
Table = dict[tuple[str, ...], dict[str, Spread]]


def kernel() -> Table:
    """The grid: per key (as texts, in the order of ``KEYS``) each column's spread."""
    return {key: values for key, values in _table().items() if not key[-2]}


def live() -> Table:
    """The same of the rows of experiments, which the table got later: columns that have a value."""
    return {key: values for key, values in _table().items() if key[-2]}


@cache
def _table() -> Table:
    path = data.path("reference/linux618/grid.csv")
    rows = pl.read_csv(
        path,
        comment_prefix="#",
        schema_overrides=dict.fromkeys(KEYS, pl.String),
        infer_schema_length=None,
    ).with_columns(pl.col(KEYS).fill_null(""))
    grouped = rows.group_by(KEYS, maintain_order=True).agg(
        *(
            pl.struct(
                mean=pl.col(c).mean(),
                low=pl.col(c).min(),
                high=pl.col(c).max(),
                runs=pl.col(c).count(),
            ).alias(c)
            for c in LIVE_METRICS
        )
    )
    return {
        tuple(row[k] for k in KEYS): {
            c: Spread(**row[c]) for c in LIVE_METRICS if row[c]["mean"] is not None
        }
        for row in grouped.iter_rows(named=True)
    }
