"""Computes the metrics of stored runs anew, from their samples, where the definitions changed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import polars as pl

from sojourn.build import definitions, engine
from sojourn.engine import alone as simulated_alone
from sojourn.measured import Measured
from sojourn.metrics import RunData, metrics
from sojourn.metrics.samples import Alone
from sojourn.outcome import Outcome
from sojourn.scenario import Document, Scenario
from sojourn.store.batches import Batches, Warn
from sojourn.store.samples import Samples

#: The new rows of a run from its old ones, its outcome, and what the definitions are told by.
Remake = Callable[[pl.DataFrame, Outcome, str], pl.DataFrame]


def outcome(data: RunData, requested: Collection[str] = ()) -> Outcome:
    """A run's metrics, as ``sojourn run --format json`` prints them, and of those that need
    further runs the requested ones.
    """
    scenario = Scenario(dict(data.scenario), dict(data.scenario))
    names = [m.name for m in metrics() if not m.on_request or m.name in requested]
    return Measured(scenario, data, {}).request(names).to_json()


def _stale(current: str) -> pl.Expr:
    """Rows of this engine whose metrics are defined otherwise now; failures have none."""
    other = pl.col("metrics").ne_missing(current)
    return (pl.col("engine") == engine()) & other & (pl.col("scope") != "run")


def renew(
    batches: Batches,
    directory: Path,
    remake: Remake,
    warn: Warn,
    requested: Collection[str] = (),
    alone: Callable[[Document], Alone] = simulated_alone,
) -> None:
    """Brings the metrics of the runs of this engine up to date, the ``requested`` ones among them,
    for which ``alone`` makes further runs.
    Those without samples stay as they are until they have been run again. Only the holder of the
    lock may.
    """
    current = definitions(requested)
    stale = _stale(current)
    old = _keys(batches, stale)
    if not old:
        return
    again = _keys(batches, (pl.col("engine") == engine()) & (pl.col("metrics") == current))
    samples = Samples(directory, warn)
    wanted = samples.keys() & (old - again)
    if wanted:
        warn(f"metrics have changed: computing those of {len(wanted)} runs anew from their samples")

    def change(rows: pl.DataFrame) -> pl.DataFrame | None:
        runs = {key: run for (key,), run in rows.filter(stale).group_by("key")}
        present = wanted.intersection(runs)
        superseded = present | again.intersection(runs)
        if not superseded:
            return None
        kept = rows.filter(~(stale & pl.col("key").is_in(list(superseded))))
        made = [
            remake(runs[key], outcome(data, requested), current)
            for key, data in samples.of(present, alone)
        ]
        return pl.concat([kept, *made], how="diagonal_relaxed")

    batches.rewrite(change)


def _keys(batches: Batches, condition: pl.Expr) -> set[str]:
    found = batches.ask(lambda rows: rows.filter(condition).select("key").unique().collect())
    return set() if found is None else set(found["key"])
