"""Metrics over time: one value per sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import ScenarioError
from sojourn.figures.plots import words
from sojourn.figures.plots.source import MEMBERS, Source
from sojourn.figures.plots.values import Values
from sojourn.metrics import RunData
from sojourn.metrics.columns import ratio
from sojourn.names import unknown
from sojourn.store.batches import tell
from sojourn.store.samples import Samples

Matrix = NDArray[np.float64]


def _per_time(column: str) -> Callable[[RunData], Matrix]:
    return lambda run: run.flow.where_regular(ratio(run.flow.samples[column], run.flow.span))


def _per_link(over: str, under: str, factor: float) -> Callable[[RunData], Matrix]:
    return lambda run: factor * ratio(run.link.samples[over], run.link.samples[under])


def _length(run: RunData) -> Matrix:
    samples = run.link.samples
    return ratio(samples["queue_time"], (samples.ends - samples.begins)[:, None])


#: Scope and samples of the metrics that can be told over time.
_SAMPLES: dict[str, tuple[str, Callable[[RunData], Matrix]]] = {
    "mean_throughput_l4": ("flow", lambda run: run.flow.throughput),
    "mean_srtt_l4": ("flow", lambda run: 1e3 * run.flow.srtt),
    "mean_est_qdelay_l4": ("flow", lambda run: 1e3 * (run.flow.srtt - run.flow.base_rtt)),
    "mean_cwnd_l4": ("flow", _per_time("cwnd_time")),
    "mean_in_flight_l4": ("flow", _per_time("in_flight_time")),
    "mean_qdisc_delay_l2": ("link", _per_link("sojourn_sum", "sojourn_count", 1e3)),
    "mean_qdisc_length_l2": ("link", _length),
}


def evaluate(source: Source, name: str) -> Values:
    """A metric's value in every sample of every run, with ``time`` (s) as a column."""
    if name not in _SAMPLES:
        raise ScenarioError(f"--y: {unknown('metric with a value per sample', name, _SAMPLES)}")
    scope, samples = _SAMPLES[name]
    members = source.of_scope(scope)
    parts: list[tuple[int, pl.DataFrame]] = []
    order = order_of_runs(members)
    for result, key, run in runs_of(source):
        times, values = _timed(run, scope), samples(run)
        mine = members.filter(result=result, key=key)
        who = dict.fromkeys(c for c in (*source.keys, *MEMBERS) if c in mine.columns)
        for _, of_point in mine.group_by("point", maintain_order=True):
            for place, row in enumerate(of_point.select(list(who)).iter_rows(named=True)):
                columns = {c: pl.lit(v, of_point.schema[c]) for c, v in row.items()}
                timed = pl.DataFrame({"time": times, "value": values[:, place]})
                parts.append((order[result, key], timed.with_columns(**columns)))
    if not parts:
        raise ScenarioError(f"{source.name}: holds no samples; sweep with --samples")
    rows = pl.concat(part for _, part in sorted(parts, key=itemgetter(0))).filter(
        pl.col("value").is_finite()
    )
    return Values(rows, words.of_metric(name))


def order_of_runs(rows: pl.DataFrame) -> dict[tuple[str, str], int]:
    """The place of each run in the grid, by its result and its key."""
    runs = rows.select("result", "key").unique(maintain_order=True)
    return {(result, key): place for place, (result, key) in enumerate(runs.iter_rows())}


def runs_of(source: Source) -> Iterator[tuple[str, str, RunData]]:
    """The result, the key and the data of each run whose samples are stored, as they came."""
    for name, one in source.results.items():
        if one.run is not None:
            yield name, "", one.run.data
            continue
        kept = Samples(one.directory, tell)
        for key, run in kept.of(set(one.rows["key"]) & kept.keys()):
            yield name, key, run


def _timed(run: RunData, scope: str) -> Matrix:
    samples = run.flow.samples if scope == "flow" else run.link.samples
    return np.round((samples.begins + samples.ends) / 2, 9)
