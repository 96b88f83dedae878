"""Runs a sweep: what is not stored yet, on all cores, storing as it goes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.build import build
from sojourn.engine import simulate
from sojourn.result import Result
from sojourn.scenario import Document, Scenario
from sojourn.store import manifest, rows
from sojourn.store.batches import Batches
from sojourn.store.lock import exclusive
from sojourn.sweeps.execute import execute
from sojourn.sweeps.expand import Plan, Point

KIND = "sweep"
#: Finished runs are stored at least so often, s.
FLUSH = 2.0
#: And at most so many wait for it.
MOST_WAITING = 500

Progress = Callable[[int, int], None]
Warn = Callable[[str], None]


@dataclass
class Summary:
    """How a sweep went."""

    total: int = 0
    stored_before: int = 0
    run: int = 0
    failed: int = 0
    #: Stored runs of other builds, which are neither counted nor shown.
    other_builds: int = 0


@dataclass(frozen=True)
class _Known:
    """What the store holds: of each run, the points it stands for (as ``_place``) and whether it
    failed.
    """

    points: set[int] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    other_builds: int = 0


def run_key(canonical: Document) -> str:
    """Identifies a run: its scenario but for the name, seed included, and what computes it."""
    told = {name: value for name, value in canonical.items() if name != "name"}
    text = json.dumps(told, sort_keys=True) + build()
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def sweep(
    plan: Plan,
    directory: Path,
    jobs: int,
    *,
    progress: Progress,
    warn: Warn,
    retry_failed: bool = False,
) -> Summary:
    """Runs what is missing; results are in ``directory`` when this returns, or however it ends."""
    with exclusive(directory, lambda: warn(f"{directory}: another sweep is at work: waiting")):
        if (directory / manifest.FILE).exists():
            manifest.read(directory)
        content = {"build": build(), "document": plan.document, "grid": dict(plan.grid)}
        manifest.write(directory, KIND, {**content, "replications": plan.replications})
        batches = Batches(directory, warn)
        batches.tidy()
        return _Sweep(plan, batches, progress, retry_failed).run(jobs)


class _Sweep:
    def __init__(
        self, plan: Plan, batches: Batches, progress: Progress, retry_failed: bool
    ) -> None:
        self._plan = plan
        self._batches = batches
        self._progress = progress
        self._known = _known(batches, retry_failed)
        self._waiting: list[rows.Row] = []
        self._aliases: dict[str, list[Point]] = {}
        self.summary = Summary(total=len(plan), other_builds=self._known.other_builds)

    def run(self, jobs: int) -> Summary:
        flushed = time.monotonic()
        self._tell()
        for finished in execute(self._missing(), _work, jobs):
            if finished is not None:
                self.summary.run += 1
                self.summary.failed += finished[0]["error"] is not None
                self._waiting += finished
            due = time.monotonic() - flushed >= FLUSH
            if due or len(self._waiting) >= MOST_WAITING:
                self._flush()
                flushed = time.monotonic()
                self._tell()
        self._flush()
        self._store_aliases()
        self._tell()
        return self.summary

    def _missing(self) -> Iterator[tuple[str, Point]]:
        """The points to run. A stored run may turn out to be another point's as well."""
        for point in self._plan:
            key = run_key(point.canonical)
            text = rows.point_text(point.coordinates, point.replication)
            if key not in self._known.keys:
                self._known.keys.add(key)
                yield key, point
                continue
            self.summary.stored_before += 1
            self.summary.failed += key in self._known.failed
            if _place(key, text) not in self._known.points:
                self._aliases.setdefault(key, []).append(point)

    def _flush(self) -> None:
        if self._waiting:
            self._batches.append(rows.frame(self._waiting))
            self._waiting = []

    def _store_aliases(self) -> None:
        """Stores runs that another point has made under this sweep's coordinates too."""
        if not self._aliases:
            return
        wanted = pl.col("key").is_in(list(self._aliases))
        stored = self._batches.ask(
            lambda rows: rows.filter(wanted).unique(["key", "scope", "id"]).collect()
        )
        assert stored is not None
        copies = [
            row
            | {path: rows.coordinate_text(value) for path, value in point.coordinates.items()}
            | {
                "point": rows.point_text(point.coordinates, point.replication),
                "replication": point.replication,
            }
            for row in stored.to_dicts()
            for point in self._aliases[row["key"]]
        ]
        self._batches.append(rows.frame(copies))

    def _tell(self) -> None:
        self._progress(self.summary.stored_before + self.summary.run, self.summary.total)


def _known(batches: Batches, retry_failed: bool) -> _Known:
    return batches.ask(lambda rows: _known_of(rows, retry_failed)) or _Known()


def _known_of(stored: pl.LazyFrame, retry_failed: bool) -> _Known:
    mine = rows.without_repaired(stored.filter(pl.col("engine") == build()))
    failed = set(rows.failed(mine)["key"])
    # Of each run one row, of scope "net" or "run".
    of_run = ["net"] if retry_failed else ["net", "run"]
    points = mine.filter(pl.col("scope").is_in(of_run)).select("key", "point").collect()
    others = stored.filter(pl.col("engine") != build()).select(pl.col("key").n_unique()).collect()
    return _Known(
        {_place(*pair) for pair in points.iter_rows()},
        set(points["key"]),
        set() if retry_failed else failed,
        others.item(),
    )


def _place(key: str, point: str) -> int:
    """Stands for a run at a point; there may be very many of them."""
    return hash((key, point))


def _work(item: tuple[str, Point]) -> list[rows.Row]:
    """Runs one point in a worker; whatever goes wrong is part of the result."""
    key, point = item
    common: rows.Row = {
        "key": key,
        "engine": build(),
        "point": rows.point_text(point.coordinates, point.replication),
        "replication": point.replication,
        "seed": point.canonical.get("seed"),
        "error": None,
    }
    if point.error:
        return rows.failure(common, point.coordinates, point.error)
    try:
        outcome, timing = _outcome(point.canonical)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the core is no Exception
        return rows.failure(common, point.coordinates, f"{type(error).__name__}: {error}")
    common["wall_seconds"] = timing["wall_seconds"]
    common["data_packets"] = int(timing["data_packets"])
    return rows.rows_of(common, point.coordinates, outcome)


def _outcome(canonical: Document) -> tuple[dict[str, Any], dict[str, float]]:
    data, timing = simulate(canonical)
    return Result(Scenario(canonical, canonical), data, timing).to_json(), timing
