"""What a sweep's store holds already."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import polars as pl

from sojourn.build import definitions, engine
from sojourn.store import rows
from sojourn.store.batches import Batches


@dataclass(frozen=True)
class Known:
    """Of each run of this build, the points it stands for and whether it failed."""

    #: As :func:`place`.
    points: set[int] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    #: Runs of other engines, and with metrics of other definitions.
    other_builds: int = 0


def known(batches: Batches, retry_failed: bool, requested: Collection[str] = ()) -> Known:
    """What is stored; failures as if they were not, if they are to be tried again."""
    return (
        batches.ask(lambda rows: _known_of(rows, retry_failed, definitions(requested))) or Known()
    )


def _known_of(stored: pl.LazyFrame, retry_failed: bool, current: str) -> Known:
    is_mine = (pl.col("engine") == engine()) & (pl.col("metrics") == current)
    mine = rows.without_repaired(stored.filter(is_mine))
    failed = set(rows.failed(mine)["key"])
    # Of each run one row, of scope "net" or "run".
    of_run = ["net"] if retry_failed else ["net", "run"]
    points = mine.filter(pl.col("scope").is_in(of_run)).select("key", "point").collect()
    others = stored.filter(~is_mine).select(pl.col("key").n_unique()).collect()
    return Known(
        {place(*pair) for pair in points.iter_rows()},
        set(points["key"]),
        set() if retry_failed else failed,
        others.item(),
    )


def place(key: str, point: str) -> int:
    """Stands for a run at a point; there may be very many of them."""
    return hash((key, point))
