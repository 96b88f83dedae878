"""What the kernel did: the measured grid of Linux 6.18."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sojourn import data

SETUP = ("flows", "rate_mbit", "rtt_ms", "buffer_packets", "loss", "duration_s")
KEYS = (*SETUP, "flow", "cca")
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


def kernel() -> dict[tuple[str, ...], dict[str, Spread]]:
    """Per key (as texts, in the order of the reference file's columns): each column's spread.
    Rows of an experiment, which the table got later, are left aside.
    """
    path = data.path("reference/linux618/grid.csv")
    texts = dict.fromkeys((*KEYS, "experiment"), pl.String)
    table = pl.read_csv(
        path, comment_prefix="#", schema_overrides=texts, infer_schema_length=None
    ).filter(pl.col("experiment").is_null())
    grouped = table.group_by(KEYS, maintain_order=True).agg(
        *(
            pl.struct(mean=pl.col(c).mean(), low=pl.col(c).min(), high=pl.col(c).max()).alias(c)
            for c in METRICS
        )
    )
    return {
        tuple(row[k] for k in KEYS): {c: Spread(**row[c]) for c in METRICS}
        for row in grouped.iter_rows(named=True)
    }
