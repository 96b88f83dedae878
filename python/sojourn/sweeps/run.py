"""Runs a sweep: what is not stored yet, on all cores, storing as it goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sojourn.build import definitions
from sojourn.executors.threads import execute
from sojourn.metrics import metrics
from sojourn.store import manifest, rows
from sojourn.store.batches import Batches, Warn
from sojourn.store.lock import exclusive
from sojourn.store.place import clear_derived
from sojourn.store.renew import renew
from sojourn.store.samples import Samples
from sojourn.sweeps.directory import KIND, content
from sojourn.sweeps.expand import Plan, Point
from sojourn.sweeps.known import known, place
from sojourn.sweeps.replications import needed
from sojourn.sweeps.work import Finished, run_key, work

#: Finished runs are stored at least so often, s.
FLUSH = 2.0
#: And at most so many rows wait for it.
MOST_WAITING = 500

Progress = Callable[[int, int], None]


@dataclass
class Summary:
    """How a sweep went."""

    total: int = 0
    stored_before: int = 0
    run: int = 0
    #: Runs that another point of the same sweep has made: the same scenario.
    equal: int = 0
    failed: int = 0
    #: Points with as many replications as there may be at most, perhaps not enough.
    wide: int = 0
    #: Stored runs of other builds, which are neither counted nor shown.
    other_builds: int = 0


def sweep(
    plan: Plan,
    directory: Path,
    jobs: int,
    *,
    progress: Progress,
    warn: Warn,
    retry_failed: bool = False,
    keep_samples: bool = True,
) -> Summary:
    """Runs what is missing; results are in ``directory`` when this returns, or however it ends."""
    with exclusive(directory, lambda: warn(f"{directory}: another sweep is at work: waiting")):
        here = content(plan)
        if (directory / manifest.FILE).exists():
            before = manifest.read(directory).get("sources", {})
            here["sources"] = before | here["sources"]  # of values that the grid has lost
        batches = Batches(directory, warn)
        batches.tidy()
        renew(batches, directory, rows.remade, warn, plan.requested)
        manifest.write(directory, KIND, here)
        samples = Samples(directory, warn)
        samples.tidy()
        kept = samples if keep_samples else None
        state = (batches, kept, progress, retry_failed, plan.requested)
        summary = _Sweep(plan, len(plan), *state).run(jobs)
        if plan.until:
            counts = needed(plan.until, directory)
            runs = plan.further(counts)
            points = (plan.point(*run) for run in runs)
            _Sweep(points, len(runs), *state, summary).run(jobs)
            summary.wide = sum(count == plan.until.most for count in counts.values())
        if summary.run:
            clear_derived(directory)
        return summary


class _Sweep:
    def __init__(
        self,
        points: Iterable[Point],
        count: int,
        batches: Batches,
        samples: Samples | None,
        progress: Progress,
        retry_failed: bool,
        requested: tuple[str, ...],
        before: Summary | None = None,
    ) -> None:
        """``before`` is added to: of the runs that have led to these."""
        self._points = points
        self._batches = batches
        self._samples = samples
        self._progress = progress
        self._requested = requested
        self._known = known(batches, retry_failed, requested)
        self._waiting: list[rows.Row] = []
        self._begun: set[str] = set()
        self._failed: set[str] = set()
        self._aliases: dict[str, list[Point]] = {}
        self.summary = before or Summary(other_builds=self._known.other_builds)
        self.summary.total += count

    def run(self, jobs: int) -> Summary:
        flushed = time.monotonic()
        self._tell()
        for finished in execute(self._missing(), lambda item: work(*item, self._requested), jobs):
            if finished is not None:
                self._take(finished)
            if self._is_full() or time.monotonic() - flushed >= FLUSH:
                self._flush()
                flushed = time.monotonic()
                self._tell()
        self._flush()
        self._store_aliases()
        self._tell()
        return self.summary

    def _missing(self) -> Iterator[tuple[str, Point]]:
        """The points to run. A stored run may turn out to be another point's as well."""
        for point in self._points:
            key = run_key(point.canonical)
            text = rows.point_text(point.coordinates, point.replication)
            if key not in self._known.keys and key not in self._begun:
                self._begun.add(key)
                yield key, point
                continue
            if key in self._begun:
                self.summary.equal += 1
            else:
                self.summary.stored_before += 1
            self.summary.failed += key in self._known.failed
            if place(key, text) not in self._known.points:
                self._aliases.setdefault(key, []).append(point)

    def _take(self, finished: Finished) -> None:
        self.summary.run += 1
        if finished.failed:
            self.summary.failed += 1
            self._failed.add(finished.rows[0]["key"])
        self._waiting += finished.rows
        if self._samples and finished.samples is not None:
            self._samples.add(finished.samples)

    def _is_full(self) -> bool:
        full = self._samples is not None and self._samples.full
        return full or len(self._waiting) >= MOST_WAITING

    def _flush(self) -> None:
        """Stores what waits: samples first, so that no stored run lacks them."""
        if self._samples:
            self._samples.flush()
        if self._waiting:
            self._batches.append(rows.frame(self._waiting))
            self._waiting = []

    def _store_aliases(self) -> None:
        """Stores runs that another point has made under this sweep's coordinates too."""
        if not self._aliases:
            return
        self.summary.failed += sum(len(self._aliases.get(key, [])) for key in self._failed)
        wanted = pl.col("key").is_in(list(self._aliases)) & (
            pl.col("metrics") == definitions(self._requested)
        )
        own = [*rows.COMMON, *dict.fromkeys(m.name for m in metrics())]
        stored = self._batches.ask(
            lambda rows: rows.filter(wanted).unique(["key", "scope", "id"]).select(own).collect()
        )
        assert stored is not None
        copies = [
            row
            | rows.coordinate_columns(point.coordinates)
            | {
                "point": rows.point_text(point.coordinates, point.replication),
                "replication": point.replication,
            }
            for row in stored.to_dicts()
            for point in self._aliases[row["key"]]
        ]
        self._batches.append(rows.frame(copies))

    def _tell(self) -> None:
        done = self.summary.stored_before + self.summary.equal + self.summary.run
        self._progress(done, self.summary.total)
