"""What a sweep's store holds already."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, starmap

import polars as pl

from sojourn.build import definitions, engine
from sojourn.store import rows
from sojourn.store.batches import Batches
from sojourn.sweeps.expand import Place

_NONE: Mapping[str, Iterable[Place]] = {}


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


def count(
    places: Iterable[Place],
    batches: Batches,
    retry_failed: bool = False,
    requested: Collection[str] = (),
    equal: Mapping[str, Iterable[Place]] = _NONE,
) -> int:
    """How many of these runs are stored likewise, by the names of their points; and how many are
    ``equal`` to one that is, by its key.
    """
    is_mine = _is_mine(definitions(requested))
    found = batches.ask(lambda stored: _points(stored.filter(is_mine), retry_failed))
    if found is None:
        return 0
    alike = chain.from_iterable(equal.get(key, ()) for key in set(found["key"]))
    points = {*found["point"], *starmap(rows.point_text, alike)}
    return sum(rows.point_text(*place) in points for place in places)


def _is_mine(current: str) -> pl.Expr:
    return (pl.col("engine") == engine()) & (pl.col("metrics") == current)


def _points(mine: pl.LazyFrame, retry_failed: bool) -> pl.DataFrame:
    # Of each run one row, of scope "net" or "run".
    of_run = ["net"] if retry_failed else ["net", "run"]
    return mine.filter(pl.col("scope").is_in(of_run)).select("key", "point").collect()


def _known_of(stored: pl.LazyFrame, retry_failed: bool, current: str) -> Known:
    is_mine = _is_mine(current)
    mine = rows.without_repaired(stored.filter(is_mine))
    failed = set(rows.failed(mine)["key"])
    points = _points(mine, retry_failed)
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
