"""The TCP stack of Linux 6.18, measured: simulator beside kernel.

Not a paper but our own measurement of real flows through an exact bottleneck; see
``reference/linux618/SOURCE.md``. The published value of a cell is the mean over its repetitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from sojourn import data
from sojourn.papers.paper import Case, Cell, Outcome, Paper, Request
from sojourn.scenario import Document, apply_override, validated
from sojourn.sweeps.expand import plan

_SETUP = ("flows", "rate_mbit", "rtt_ms", "buffer_packets", "loss", "duration_s")
_KEYS = (*_SETUP, "flow", "cca")
#: The kernel's columns and the metrics that measure the same.
METRICS = {
    "goodput": "mean_throughput_l4",
    "mean_srtt": "mean_srtt_l4",
    "mean_cwnd": "mean_cwnd_l4",
    "retrans": "total_retransmissions_l4",
}
_REPLICATIONS = 10
_QUICK_REPLICATIONS = 3


@dataclass(frozen=True)
class Spread:
    """A kernel value over its repetitions."""

    mean: float
    low: float
    high: float


def kernel() -> dict[tuple[str, ...], dict[str, Spread]]:
    """Per key (as texts, in the order of the reference file's columns): each column's spread."""
    path = data.path("reference/linux618/grid.csv")
    table = pl.read_csv(path, comment_prefix="#", schema_overrides=dict.fromkeys(_KEYS, pl.String))
    grouped = table.group_by(_KEYS, maintain_order=True).agg(
        *(
            pl.struct(mean=pl.col(c).mean(), low=pl.col(c).min(), high=pl.col(c).max()).alias(c)
            for c in METRICS
        )
    )
    return {
        tuple(row[k] for k in _KEYS): {c: Spread(**row[c]) for c in METRICS}
        for row in grouped.iter_rows(named=True)
    }


def _cells(request: Request) -> Iterator[Cell]:
    cases: dict[tuple[str, ...], list[tuple[Case, ...]]] = {}
    for key, values in kernel().items():
        setup = key[: len(_SETUP)]
        if setup not in cases:
            cases[setup] = [(case,) for case in _cases(setup, request)]
        keys = dict(zip(_KEYS, key, strict=True))
        for column, spread in values.items():
            measure = partial(_measure, METRICS[column], int(keys["flow"]))
            yield Cell({**keys, "metric": column}, spread.mean, cases[setup], measure)


def _measure(metric: str, flow: int, outcome: Outcome) -> float | None:
    value: float | None = outcome["flows"][flow]["metrics"][metric]
    return value


def _cases(setup: tuple[str, ...], request: Request) -> Iterator[Case]:
    document = scenario(dict(zip(_SETUP, setup, strict=True)))
    for override in request.overrides:
        apply_override(document, override)
    if request.quick:
        document["sweep"]["replications"] = _QUICK_REPLICATIONS
    for point in plan(validated(document)):
        yield Case.of(point.canonical)


def scenario(setup: Mapping[str, str]) -> Document:
    """The scenario of a cell."""
    controls = setup["flows"].split(",")
    bottleneck: dict[str, Any] = {
        "rate": f"{setup['rate_mbit']} Mbit/s",
        "queue": {"kind": "fifo", "limit": f"{setup['buffer_packets']} packets"},
        "overhead": "0 B",
        "loss": f"{float(setup['loss']) * 100:g} %",
    }
    return {
        "name": "linux-6.18",
        "duration": f"{setup['duration_s']} s",
        "stack": "linux-6",
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "flows": [
            {
                "cca": cca,
                "rtt": f"{setup['rtt_ms']} ms",
                "start": f"{100 * index} us",
            }
            for index, cca in enumerate(controls)
        ],
        # Several packet times: much less, and every seed takes the same course.
        "sweep": {"replications": _REPLICATIONS, "start_jitter": "1 ms"},
    }


LINUX618 = Paper(
    name="linux618",
    title="Linux 6.18 TCP through an exact bottleneck: simulator beside kernel",
    keys=(*_KEYS, "metric"),
    labels=("metric",),
    tables=("grid",),
    choices=(
        'stack = "linux-6", overhead = "0 B"',
        "published: the kernel's mean over its repetitions",
        "10 seeds; flows start 0.1 ms apart, moved by up to 1 ms",
        "random loss: after the queue here, before it there; data and SYN here, data only there",
    ),
    cells=_cells,
)
