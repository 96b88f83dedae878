"""The finished runs of a reproduction on disk, so that none is run twice."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sojourn.papers.paper import Case, Outcome
from sojourn.store.batches import Batches
from sojourn.sweeps.run import FLUSH, run_key

_COLUMNS = ("key", "point", "scope", "id", "outcome")


class Finished:
    """The runs in a directory. A run of another build counts as not run: its key differs."""

    def __init__(self, directory: Path) -> None:
        self._batches = Batches(directory)
        self._batches.tidy()
        self._waiting: list[tuple[str, str]] = []
        self._flushed = time.monotonic()

    def of(self, cases: Sequence[Case]) -> dict[Case, Outcome]:
        """The outcomes of those cases that have been run."""
        stored = self._batches.read(_COLUMNS).select("key", "outcome").rows()
        by_key = dict(stored)
        keys = ((case, run_key(case.canonical)) for case in cases)
        return {case: json.loads(by_key[key]) for case, key in keys if key in by_key}

    def add(self, case: Case, outcome: Outcome) -> None:
        """Takes a run in; it is safe after the next flush."""
        self._waiting.append((run_key(case.canonical), json.dumps(outcome)))

    def flush_if_due(self) -> None:
        """Stores what waits, every few seconds."""
        if time.monotonic() - self._flushed >= FLUSH:
            self.flush()

    def flush(self) -> None:
        """Stores what waits."""
        if self._waiting:
            rows = [(key, "", "outcome", "", text) for key, text in self._waiting]
            schema = dict.fromkeys(_COLUMNS, pl.String)
            self._batches.append(pl.DataFrame(rows, schema=schema, orient="row"))
            self._waiting = []
        self._flushed = time.monotonic()
