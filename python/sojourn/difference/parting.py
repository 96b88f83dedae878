"""The first event that two sequences of them do not share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import polars as pl

from sojourn.json_types import Fields
from sojourn.record import HEADERS

#: Events of each side that are read at a time.
_ROWS = 1 << 18
#: Of such events the sequences are compared.
_SEQUENCE = ("link", "flow", "event")
#: What is compared of an event beside its time, as far as both sides have it.
_SAME = ("index", "size", "reason", *HEADERS)
#: By what pairs are told first.
_EARLIER = ("time", "order", "delivered")


@dataclass(frozen=True)
class Parting:
    """Where two sequences part."""

    #: The earlier of the two times, s.
    time: float
    link: str
    flow: int
    event: str
    #: The events of both sides; ``None`` where there is none any more.
    a: Fields | None
    b: Fields | None

    @property
    def index(self) -> int:
        """That of the packet, on the side where it comes earlier."""
        return int(min((s for s in (self.a, self.b) if s), key=lambda s: s["time"])["index"])


def first(a: pl.LazyFrame, b: pl.LazyFrame, until: float, tolerance: float) -> Parting | None:
    """The earliest event of either side up to ``until`` (s) without its like on the other one.

    Only those are in memory that wait for the other side's.
    """
    # Its like may come later than an event by the tolerance: it is read for longer than looked at.
    limit, parted, same = until - tolerance, None, _same(a, b)
    waiting = [pl.DataFrame(), pl.DataFrame()]
    for parts in zip_longest(_parts(a, same), _parts(b, same)):
        reading = pl.col("time") <= limit + tolerance
        waiting = [
            pl.concat([old, *([] if new is None else [new])], how="diagonal").filter(reading)
            for old, new in zip(waiting, parts, strict=True)
        ]
        pairs = _paired(waiting, same)
        waiting = [_alone(pairs, side, same) for side in "ab"]
        both = pairs.filter(pl.col("time_a").is_not_null() & pl.col("time_b").is_not_null())
        parted = _earlier(parted, both.filter(_differs(tolerance, same)), until)
        limit = parted["time"] if parted else limit
    rest = _paired(waiting, same).filter(pl.min_horizontal("time_a", "time_b") <= limit)
    parted = _earlier(parted, rest, until)
    return _parting(parted, a, b, tolerance) if parted else None


def _same(*sides: pl.LazyFrame) -> list[str]:
    schemas = [rows.collect_schema() for rows in sides]
    return [name for name in _SAME if all(name in schema for schema in schemas)]


def _parts(rows: pl.LazyFrame, same: list[str]) -> Iterator[pl.DataFrame]:
    """All events, some at a time, with the number of each in ``order``."""
    begin = 0
    while (part := rows.select(*_SEQUENCE, *same, "time").slice(begin, _ROWS).collect()).height:
        yield part.with_columns(order=pl.int_range(begin, begin + part.height, dtype=pl.Int64))
        begin += part.height


def _paired(both: list[pl.DataFrame], same: list[str]) -> pl.DataFrame:
    """The events of each sequence side by side, as far as they go on both sides."""
    sides = []
    for rows, name in zip(both, "ab", strict=True):
        rank = pl.int_range(pl.len()).over(_SEQUENCE).alias("rank")
        others = {column: f"{column}_{name}" for column in (*same, "time", "order")}
        sides.append(rows.with_columns(rank).rename(others))
    return sides[0].join(sides[1], on=[*_SEQUENCE, "rank"], how="full", coalesce=True)


def _alone(pairs: pl.DataFrame, side: str, same: list[str]) -> pl.DataFrame:
    """The events of one side that have none beside them, in their order."""
    other = "b" if side == "a" else "a"
    own = {f"{column}_{side}": column for column in (*same, "time", "order")}
    alone = pairs.filter(pl.col(f"time_{other}").is_null())
    return alone.select(*_SEQUENCE, *own).rename(own).sort("order")


def _differs(tolerance: float, same: list[str]) -> pl.Expr:
    apart = (pl.col("time_a") - pl.col("time_b")).abs() > tolerance
    others = [pl.col(f"{name}_a").ne_missing(pl.col(f"{name}_b")) for name in same]
    return pl.any_horizontal(apart, *others)


def _earlier(
    parted: dict[str, Any] | None, pairs: pl.DataFrame, until: float
) -> dict[str, Any] | None:
    """The earliest pair, unless the one that was found is earlier: at the same time that which a
    side has told first. Where one delivers what the other drops, the drop says more.
    """
    pairs = pairs.with_columns(
        time=pl.min_horizontal("time_a", "time_b"),
        order=pl.min_horizontal("order_a", "order_b"),
        delivered=pl.col("event") == "deliver",
    ).filter(pl.col("time") <= until)
    found = pairs.sort(_EARLIER).head(1).to_dicts()
    ranked = [*([parted] if parted else []), *found]
    return min(ranked, key=lambda pair: tuple(pair[name] for name in _EARLIER), default=None)


def _parting(pair: dict[str, Any], a: pl.LazyFrame, b: pl.LazyFrame, tolerance: float) -> Parting:
    sequence = {name: pair[name] for name in _SEQUENCE}
    shown = ["time", *_same(a, b)]
    after = pl.col("time") > pair["time"] + tolerance

    def event(side: str, rows: pl.LazyFrame) -> Fields | None:
        if pair[f"time_{side}"] is not None:
            return {name: pair[f"{name}_{side}"] for name in shown}
        # It was not read any more: all before it have their like.
        later = rows.filter(after, **sequence).select(shown).head(1).collect()
        return later.row(0, named=True) if later.height else None

    return Parting(time=pair["time"], a=event("a", a), b=event("b", b), **sequence)
