"""The finished cases of a campaign on disk, so that none is done twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import polars as pl

from sojourn.backends import backend
from sojourn.backends.programs import as_planned
from sojourn.build import definitions, engine
from sojourn.campaign.cases import AnyCase, Attempted, Case, Computed, Outcome, Sampled, Told
from sojourn.campaign.keys import key_of
from sojourn.campaign.results import Stored
from sojourn.errors import LostError, RunError
from sojourn.executors import processes
from sojourn.executors.processes import Limits, limits
from sojourn.external.bundle import Bundle
from sojourn.interruption import deferred
from sojourn.json_types import Json
from sojourn.metrics import RunData
from sojourn.store.batches import Batches, Warn, tell
from sojourn.store.renew import outcome, renew
from sojourn.store.samples import Samples, kept, packed

_COLUMNS = ("key", "engine", "metrics", "point", "scope", "id", "outcome")


@dataclass(frozen=True)
class Run:
    """What a case came to, to be stored: a row of its metrics or of what was computed, its samples
    unless they are too long, or both; nothing of one that was lost.
    """

    case: AnyCase
    outcome: Told = None
    row: pl.DataFrame | None = None
    samples: pl.DataFrame | None = None
    timing: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Simulate:
    """Runs and computes cases."""

    bundle: Bundle
    limits: Limits

    @classmethod
    def of(cls, cases: Sequence[AnyCase]) -> Simulate:
        """Of these cases, whose controls from outside travel with it."""
        named = [case.canonical if isinstance(case, Case) else case.given for case in cases]
        return cls(Bundle.packed(named), limits)

    def __call__(self, case: AnyCase) -> list[Run]:
        """Does one."""
        limits.take(self.limits)
        return [self._computed(case) if isinstance(case, Computed) else self._simulated(case)]

    def _simulated(self, case: Case) -> Run:
        key = key_of(case)
        moved = self.bundle.unpacked().move(case.canonical)
        data, timing = backend(case.backend).measure(moved)
        data = as_planned(data, case.canonical)
        if isinstance(case, Sampled):
            return Run(case, samples=packed(key, _kept(data, case.keeps)), timing=timing)
        told = outcome(data)
        return Run(case, told, _row(key, told), kept(key, data), timing)

    def _computed(self, case: Computed) -> Run:
        """In a process of its own: compiled code that takes long is not interrupted otherwise."""
        there = self.bundle.unpacked()
        asked = Computed.result, case, there.move(case.given), self.bundle.classes
        if not isinstance(case, Attempted):
            return _to_keep(case, processes.call(*asked))
        try:
            return _to_keep(case, {"value": processes.call(*asked)})
        except RunError as error:
            told: Json = {"error": there.told(str(error))}
            return Run(case, told) if isinstance(error, LostError) else _to_keep(case, told)

    def lost(self, case: AnyCase, why: str) -> list[Run]:
        """A failure, as any case that fails."""
        if isinstance(case, Attempted):
            return [Run(case, {"error": f"the run {why}"})]
        raise RunError(f"a run of {case.name} {why}")

    def join(self, done: Sequence[list[Run]]) -> list[Run]:
        """All of them."""
        return list(chain.from_iterable(done))


def _to_keep(case: Computed, told: Json) -> Run:
    return Run(case, told, _row(key_of(case), told, "run"))


def _kept(data: RunData, names: Sequence[str]) -> RunData:
    """A run with these columns of the flows' samples alone, or all."""
    flows = data.tables["flow_samples"]
    chosen = {name: flows[name] for name in ("time", "flow", *names)} if names else flows
    return replace(data, tables={**data.tables, "flow_samples": chosen})


class Finished:
    """What is done in a directory. A run of another engine counts as not run: its key differs; the
    metrics of the others are as they are defined now.
    """

    def __init__(self, directory: Path, warn: Warn = tell) -> None:
        self._batches = Batches(directory, warn)
        self._batches.tidy()
        renew(self._batches, directory, _remade, warn)
        self._samples = Samples(directory, warn)
        self._samples.tidy()
        self._waiting: list[pl.DataFrame] = []

    def of(self, cases: Iterable[AnyCase]) -> Stored:
        """What those cases have come to that are done."""
        return _stored(cases, self._batches, self._samples)

    def add(self, run: Run) -> None:
        """Takes a run in; it is safe after the next flush."""
        if run.row is not None:
            self._waiting.append(run.row)
        if run.samples is not None:
            self._samples.add(run.samples)

    @property
    def full(self) -> bool:
        """Whether as many samples wait as may wait."""
        return self._samples.full

    def flush(self) -> None:
        """Stores what waits, once."""
        with deferred():
            waiting, self._waiting = self._waiting, []
            self._samples.flush()
            if waiting:
                self._batches.append(pl.concat(waiting))


def stored(directory: Path, cases: Iterable[AnyCase], warn: Warn = tell) -> Stored:
    """What those cases have come to that are done, for whoever only reads."""
    return _stored(cases, Batches(directory, warn), Samples(directory, warn))


def _stored(cases: Iterable[AnyCase], batches: Batches, samples: Samples) -> Stored:
    told = dict(batches.read(["key", "outcome"]).rows())
    cases = list(cases)
    sampled = samples.keys() if any(isinstance(case, Sampled) for case in cases) else set()
    found = Stored(samples)
    for case in cases:
        key = key_of(case)
        if isinstance(case, Sampled) and key in sampled:
            found.add(case, None)
        elif key in told and not isinstance(case, Sampled):
            found.add(case, json.loads(told[key]))
    return found


def _row(key: str, told: Told, scope: str = "outcome") -> pl.DataFrame:
    """A row of the store; those of scope ``run`` have no metrics that could be defined anew."""
    row = (key, engine(), definitions(), "", scope, "", json.dumps(told))
    return pl.DataFrame([row], schema=dict.fromkeys(_COLUMNS, pl.String), orient="row")


def _remade(old: pl.DataFrame, told: Outcome, _: str) -> pl.DataFrame:
    return _row(old["key"][0], told)
