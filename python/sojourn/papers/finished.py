"""The finished runs of a reproduction on disk, so that none is run twice."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.build import definitions, engine
from sojourn.engine import simulate
from sojourn.errors import RunError
from sojourn.executors.processes import Limits, limits
from sojourn.interruption import deferred
from sojourn.outside.luggage import Luggage
from sojourn.papers.paper import Case, Outcome
from sojourn.store.batches import Batches, Warn, tell
from sojourn.store.renew import outcome, renew
from sojourn.store.samples import Samples, packed
from sojourn.sweeps.run import FLUSH
from sojourn.sweeps.work import run_key

_COLUMNS = ("key", "engine", "metrics", "point", "scope", "id", "outcome")


@dataclass(frozen=True)
class Run:
    """A run that is to be stored."""

    case: Case
    outcome: Outcome
    row: pl.DataFrame
    samples: pl.DataFrame
    timing: Mapping[str, float]


@dataclass(frozen=True)
class Simulate:
    """Runs cases."""

    luggage: Luggage
    limits: Limits

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Simulate:
        """Of these cases, whose controls from outside travel with it."""
        return cls(Luggage.packed([case.canonical for case in cases]), limits)

    def __call__(self, case: Case) -> list[Run]:
        """Runs one."""
        limits.take(self.limits)
        key = run_key(case.canonical)
        data, timing = simulate(self.luggage.unpacked().move(case.canonical))
        data = replace(data, scenario=case.canonical)
        told = outcome(data)
        return [Run(case, told, _row(key, told), packed(key, data), timing)]

    def lost(self, case: Case, why: str) -> list[Run]:
        """A failure, as any run of a reproduction that fails."""
        raise RunError(f"a run of {case.canonical['name']} {why}")

    def join(self, done: Sequence[list[Run]]) -> list[Run]:
        """All of them."""
        return list(chain.from_iterable(done))


class Finished:
    """The runs in a directory. A run of another engine counts as not run: its key differs; the
    metrics of the others are as they are defined now.
    """

    def __init__(self, directory: Path, warn: Warn = tell) -> None:
        self._batches = Batches(directory, warn)
        self._batches.tidy()
        renew(self._batches, directory, _remade, warn)
        self._samples = Samples(directory, warn)
        self._samples.tidy()
        self._waiting: list[pl.DataFrame] = []
        self._flushed = time.monotonic()

    def of(self, cases: Sequence[Case]) -> dict[Case, Outcome]:
        """The outcomes of those cases that have been run."""
        by_key = dict(self._batches.read(["key", "outcome"]).rows())
        keys = ((case, run_key(case.canonical)) for case in cases)
        return {case: json.loads(by_key[key]) for case, key in keys if key in by_key}

    def add(self, run: Run) -> None:
        """Takes a run in; it is safe after the next flush."""
        self._waiting.append(run.row)
        self._samples.add(run.samples)

    def flush_if_due(self) -> None:
        """Stores what waits, every few seconds."""
        if self._samples.full or time.monotonic() - self._flushed >= FLUSH:
            self.flush()

    def flush(self) -> None:
        """Stores what waits, once."""
        with deferred():
            waiting, self._waiting = self._waiting, []
            self._samples.flush()
            if waiting:
                self._batches.append(pl.concat(waiting))
        self._flushed = time.monotonic()


def _row(key: str, told: Outcome) -> pl.DataFrame:
    row = (key, engine(), definitions(), "", "outcome", "", json.dumps(told))
    return pl.DataFrame([row], schema=dict.fromkeys(_COLUMNS, pl.String), orient="row")


def _remade(old: pl.DataFrame, told: dict[str, Any], _: str) -> pl.DataFrame:
    return _row(old["key"][0], told)
