"""Runs a sweep: what is not stored yet, on all cores, storing as it goes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from sojourn.backends import backend
from sojourn.build import definitions
from sojourn.campaign.loop import keep
from sojourn.executors import Executor, threads
from sojourn.executors.processes import limits
from sojourn.interruption import deferred
from sojourn.metrics import metrics
from sojourn.store import manifest, rows
from sojourn.store.batches import Batches, Warn
from sojourn.store.layout import clear_derived
from sojourn.store.lock import exclusive
from sojourn.store.renew import renew
from sojourn.store.samples import Samples
from sojourn.sweeps import known
from sojourn.sweeps.directory import KIND, content, with_labels, with_programs
from sojourn.sweeps.expand import Place, Plan
from sojourn.sweeps.replications import needed
from sojourn.sweeps.work import Finished, Identified, Identify, Run

#: At most so many rows wait to be stored.
MOST_WAITING = 500
#: So many workers find out which runs points are while all work on runs: that takes a millisecond.
IDENTIFIERS = 8

Progress = Callable[[int, int], None]
#: Is told what to know of runs, as :attr:`RunData.notes`.
Note = Callable[[Mapping[str, str]], None]


@dataclass
class Summary:
    """How a sweep went."""

    total: int = 0
    stored_before: int = 0
    run: int = 0
    #: Runs that another point of the same sweep has made: the same scenario.
    equal: int = 0
    failed: int = 0
    #: Runs so long that their samples are not stored.
    long: int = 0
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
    execute: Executor = threads.execute,
) -> Summary:
    """Runs what is missing; results are in ``directory`` when this returns, or however it ends.
    Wherever ``execute`` has the work done, everything is stored from here.
    """
    with exclusive(directory, lambda: warn(f"{directory}: another sweep is at work: waiting")):
        batches = _prepared(plan, directory, warn)
        samples = Samples(directory, warn)
        samples.tidy()
        identify = Identify.of(plan)
        about = plan.backend, plan.origin
        run = Run(plan.requested, identify.bundle, keep_samples, limits, *about, directory)
        workers = _Workers(execute, jobs, identify, run)
        state = (workers, batches, samples, progress, _once(warn), retry_failed)
        summary = _Sweep(plan.places, len(plan), *state).run()
        if plan.until:
            counts = needed(plan.until, directory)
            further = sum(count - plan.replications for count in counts.values())
            _Sweep(partial(plan.further, counts), further, *state, summary).run()
            summary.wide = sum(count == plan.until.most for count in counts.values())
        if summary.long:
            warn(
                f"{summary.long} runs are too long for their samples to be stored: figures over "
                "time lack them, and their metrics stay as they are defined now"
            )
        if summary.run:
            clear_derived(directory)
        return summary


def _prepared(plan: Plan, directory: Path, warn: Warn) -> Batches:
    """What is stored, in order and with metrics as they are defined now, under the manifest of the
    plan.
    """
    here = content(plan)
    if (directory / manifest.FILE).exists():
        before = manifest.read(directory)
        # Of values that the grid has lost.
        here["sources"] = before.get("sources", {}) | here["sources"]
        here = with_programs(before, with_labels(before, here))
    batches = Batches(directory, warn)
    batches.tidy()
    alone = backend(plan.backend).alone
    renew(batches, directory, rows.remade, warn, plan.requested, alone)
    manifest.write(directory, KIND, here)
    return batches


def _once(warn: Warn) -> Note:
    """Warns of what is to be known of runs, of each thing in the words of the first run."""
    told: set[str] = set()

    def note(notes: Mapping[str, str]) -> None:
        for what, sentence in notes.items():
            if what not in told:
                told.add(what)
                warn(f"warning: at least one run: {sentence}")

    return note


@dataclass(frozen=True)
class _Workers:
    """Who does what."""

    execute: Executor
    jobs: int
    identify: Identify
    run: Run

    def identified(self, places: Iterable[Place]) -> Iterator[Identified]:
        """The runs of these places, a few ahead of those that are worked on."""
        jobs = min(self.jobs, IDENTIFIERS)
        told = self.execute(places, self.identify, jobs)
        with closing(told):
            for found in told:
                yield from found or ()

    def finished(self, missing: Iterable[Identified]) -> Generator[Finished | None, None, None]:
        """What the runs come to."""
        return self.execute(missing, self.run, self.jobs)


class _Sweep:
    def __init__(
        self,
        places: Callable[[], Iterable[Place]],
        count: int,
        workers: _Workers,
        batches: Batches,
        samples: Samples,
        progress: Progress,
        note: Note,
        retry_failed: bool,
        before: Summary | None = None,
    ) -> None:
        """``before`` is added to: of the runs that have led to these."""
        self._places = places
        self._workers = workers
        self._batches = batches
        self._samples = samples
        self._progress = progress
        self._note = note
        self._retry_failed = retry_failed
        self._requested = workers.run.requested
        self._known = known.known(batches, retry_failed, self._requested)
        self._waiting: list[Finished] = []
        self._begun: set[str] = set()
        self._failed: set[str] = set()
        self._aliases: dict[str, list[Place]] = {}
        self.summary = before or Summary(other_builds=self._known.other_builds)
        #: Runs that led to these.
        self._led = self.summary.total
        self.summary.total += count

    def run(self) -> Summary:
        self.tell()
        try:
            keep(self._workers.finished(self._missing()), self)
        except KeyboardInterrupt:
            self._progress(self._led + self._stored(), self.summary.total)
            raise
        self._store_aliases()
        self.tell()
        return self.summary

    def _stored(self) -> int:
        """How many of the runs are stored, with those that no worker has looked for yet."""
        of = (self._batches, self._retry_failed, self._requested)
        return known.count(self._places(), *of, equal=self._aliases)

    def _missing(self) -> Iterator[Identified]:
        """The points to run. A stored run may turn out to be another point's as well."""
        for found in self._workers.identified(self._places()):
            key, text = found.key, rows.point_text(*found.place)
            if key not in self._known.keys and key not in self._begun:
                self._begun.add(key)
                yield found
                continue
            if key in self._begun:
                self.summary.equal += 1
            else:
                self.summary.stored_before += 1
            self.summary.failed += key in self._known.failed
            if known.place(key, text) not in self._known.points:
                self._aliases.setdefault(key, []).append(found.place)

    def take(self, finished: Finished) -> None:
        """Takes in what runs came to."""
        self.summary.run += finished.runs
        self.summary.failed += len(finished.failed)
        self.summary.long += finished.long
        self._failed.update(finished.failed)
        self._note(finished.notes)
        if finished.samples is not None:
            self._samples.add(finished.samples)
        self._waiting.append(replace(finished, samples=None))

    @property
    def full(self) -> bool:
        """Whether as much waits as may wait."""
        return self._samples.full or sum(map(len, self._waiting)) >= MOST_WAITING

    def flush(self) -> None:
        """Stores what waits, once: samples first, so that no stored run lacks them."""
        with deferred():
            waiting, self._waiting = self._waiting, []
            self._samples.flush()
            told = self._workers.run.join(waiting).table
            if told is not None:
                self._batches.append(told)

    def _store_aliases(self) -> None:
        """Stores runs that another point has made under this sweep's coordinates too."""
        if not self._aliases:
            return
        self.summary.failed += sum(len(self._aliases.get(key, [])) for key in self._failed)
        wanted = pl.col("key").is_in(list(self._aliases)) & (
            pl.col("metrics") == definitions(self._requested)
        )
        own = [*rows.COMMON, *dict.fromkeys(m.name for m in metrics())]
        stored = self._batches.ask(lambda rows: _rows_of(rows, wanted, own))
        assert stored is not None
        copies = [
            row
            | rows.coordinate_columns(coordinates)
            | {
                "point": rows.point_text(coordinates, replication),
                "replication": replication,
            }
            for row in stored.to_dicts()
            for coordinates, replication in self._aliases[row["key"]]
        ]
        self._batches.append(rows.frame(copies))

    def tell(self) -> None:
        """Says how many runs are stored."""
        done = self.summary.stored_before + self.summary.equal + self.summary.run
        self._progress(done, self.summary.total)


def _rows_of(rows: pl.LazyFrame, wanted: pl.Expr, columns: Iterable[str]) -> pl.DataFrame:
    """Each wanted row once, with those of the columns that files of before have too."""
    there = set(rows.collect_schema().names())
    once = rows.filter(wanted).unique(["key", "scope", "id"], maintain_order=True)
    return once.select([name for name in columns if name in there]).collect()
