"""What is done for each run of a sweep, in a worker."""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import polars as pl

from sojourn.backends import Backend, backend
from sojourn.backends.programs import as_planned
from sojourn.build import definitions, engine
from sojourn.campaign.keys import run_key
from sojourn.errors import LackError, RunError, ScenarioError, SojournError
from sojourn.executors.processes import Limits, limits
from sojourn.external.bundle import Bundle
from sojourn.origin import Origin
from sojourn.store import rows
from sojourn.store.renew import outcome
from sojourn.store.samples import kept
from sojourn.sweeps.expand import Place, Plan, Point


@dataclass(frozen=True)
class Identified:
    """A point whose run is known; its scenario is a text, which takes less memory."""

    key: str
    place: Place
    scenario: str
    error: str | None

    @property
    def point(self) -> Point:
        """The point."""
        return Point(*self.place, json.loads(self.scenario), self.error)


@dataclass(frozen=True)
class Identify:
    """Finds out which run a place of a plan is."""

    plan: Plan
    bundle: Bundle

    @classmethod
    def of(cls, plan: Plan) -> Identify:
        """Of a plan, whose grid stays here."""
        bundle = Bundle.packed([plan.document, dict(plan.grid)])
        return cls(replace(plan, grid={}), bundle)

    def __call__(self, place: Place) -> list[Identified]:
        """Makes the place's scenario canonical."""
        there = self.bundle.unpacked()
        plan = replace(self.plan, document=there.move(self.plan.document))
        point = plan.point(there.move(place[0]), place[1])
        key = run_key(point.canonical, plan.origin)
        scenario = json.dumps(there.back(point.canonical))
        return [Identified(key, place, scenario, point.error)]

    def lost(self, place: Place, why: str) -> list[Identified]:
        """A point that is refused."""
        canonical = {"refused": place[0]}
        key = run_key(canonical, self.plan.origin)
        return [Identified(key, place, json.dumps(canonical), why)]

    def join(self, done: Sequence[list[Identified]]) -> list[Identified]:
        """All of them."""
        return list(chain.from_iterable(done))


@dataclass(frozen=True)
class Finished:
    """What a run came to, or several."""

    rows: list[rows.Row] = field(default_factory=list)
    #: Rows of several runs, as they are stored.
    table: pl.DataFrame | None = None
    #: As they are stored; ``None`` if all failed, or they are not kept.
    samples: pl.DataFrame | None = None
    runs: int = 1
    #: How many are too long for their samples to be kept.
    long: int = 0
    #: The keys of those that failed.
    failed: tuple[str, ...] = ()
    #: What to know of them, as :attr:`RunData.notes`.
    notes: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """How many rows it has."""
        return len(self.rows) + (0 if self.table is None else len(self.table))


@dataclass(frozen=True)
class Run:
    """Runs points; whatever goes wrong is part of the result, but for what the machine lacks."""

    #: Metrics that are computed though they need further runs.
    requested: tuple[str, ...] = ()
    bundle: Bundle = field(default_factory=Bundle)
    keep_samples: bool = True
    limits: Limits = field(default_factory=lambda: limits)
    #: What runs them, and what tells its runs from others (:class:`Plan`).
    backend: str = "sim"
    origin: Origin | None = None
    #: Of the results.
    directory: Path | None = None

    def __call__(self, found: Identified) -> Finished:
        """Runs it.

        Raises:
            LackError: if the machine cannot make such runs.

        """
        limits.take(self.limits)
        on = self._on()
        point, common = found.point, self._common(found)
        if point.error:
            return self._failure(common, found.place, point.error)
        there = self.bundle.unpacked()
        try:
            data, timing = on.measure(there.move(point.canonical), spool=self.directory)
            told = outcome(data, self.requested)
        except (KeyboardInterrupt, SystemExit, LackError):
            raise
        except BaseException as error:  # a panic of the core is no Exception
            expected = isinstance(error, (RunError, ScenarioError))
            message = str(error) if expected else f"{type(error).__name__}: {error}"
            failed_at = getattr(error, "failed_at", None)
            return self._failure(common, found.place, there.told(message), failed_at)
        common["wall_seconds"] = timing["wall_seconds"]
        common["data_packets"] = int(timing["data_packets"])
        data = as_planned(data, point.canonical)
        samples = kept(found.key, data) if self.keep_samples else None
        long = int(self.keep_samples and samples is None)
        told_rows = rows.rows_of(common, point.coordinates, told)
        return Finished(told_rows, samples=samples, long=long, notes=data.notes)

    def lost(self, found: Identified, why: str) -> Finished:
        """A run that failed."""
        return self._failure(self._common(found), found.place, f"the run {why}")

    def join(self, done: Sequence[Finished]) -> Finished:
        """Their rows and samples as two tables."""
        told = [row for one in done for row in one.rows]
        tables = [one.table for one in done if one.table is not None]
        return Finished(
            table=_together([*tables, *([rows.frame(told)] if told else [])]),
            samples=_together([one.samples for one in done if one.samples is not None]),
            runs=sum(one.runs for one in done),
            long=sum(one.long for one in done),
            failed=tuple(chain.from_iterable(one.failed for one in done)),
            notes=dict(ChainMap(*(dict(one.notes) for one in done))),
        )

    def _on(self) -> Backend:
        """The backend, on whichever machine this is.

        Raises:
            ScenarioError: if the machine does not have it.
            SojournError: if it has another one of that name.

        """
        on = backend(self.backend)
        if on.key() != self.origin:
            raise SojournError(
                f"a worker has another {self.backend}: {on.key()}, where {self.origin} is wanted: "
                "build the same there"
            )
        return on

    def _common(self, found: Identified) -> rows.Row:
        return {
            "key": found.key,
            "engine": engine(),
            "metrics": definitions(self.requested),
            "point": rows.point_text(*found.place),
            "replication": found.place[1],
            "seed": json.loads(found.scenario).get("seed"),
            "error": None,
            "backend": self.backend,
        }

    def _failure(
        self, common: rows.Row, place: Place, message: str, failed_at: float | None = None
    ) -> Finished:
        told = rows.failure(common, place[0], message, failed_at)
        return Finished(told, failed=(str(common["key"]),))


def _together(tables: Sequence[pl.DataFrame]) -> pl.DataFrame | None:
    return pl.concat(tables, how="diagonal_relaxed") if tables else None
