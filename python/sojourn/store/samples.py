"""The samples of many runs on disk, from which metrics are computed anew where they changed.

One row per run: its key, its canonical scenario, its network, and each column of the core's tables
as a list. Files are not merged: they are written, and rarely read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import polars as pl

from sojourn.disk import read
from sojourn.engine import alone as simulated_alone
from sojourn.metrics import RunData
from sojourn.metrics.columns import Column
from sojourn.metrics.samples import Alone
from sojourn.scenario import Document
from sojourn.spool import OnDisk
from sojourn.store.batches import Batches, Warn
from sojourn.store.location import local

DIRECTORY = "samples"
#: The core's tables that metrics and figures are computed from; the last one is of active nodes.
TABLES = ("flow_samples", "flows", "link_samples", "links", "node_samples")
#: ... and those of runs in which transfers arrive.
ARRIVALS = ("transfers", "arrival_samples")
#: Bytes of samples that wait in memory for being stored.
MOST_WAITING = 64e6
#: Bytes of a run's long tables, which are on disk already, that are stored beside its metrics.
MOST_KEPT = 128e6


def kept(key: str, data: RunData) -> pl.DataFrame | None:
    """A run's samples as :func:`packed`; nothing of a run that is so long that they would fill the
    memory.
    """
    long = (table.nbytes for table in data.tables.values() if isinstance(table, OnDisk))
    return packed(key, data) if sum(long) <= MOST_KEPT else None


def packed(key: str, data: RunData) -> pl.DataFrame:
    """A run's samples as one row."""
    told = {"key": key, "scenario": json.dumps(data.scenario), "network": json.dumps(data.network)}
    tables = [
        pl.DataFrame({f"{table}.{name}": values for name, values in data.tables[table].items()})
        for table in (*TABLES, *ARRIVALS)
        if table in data.tables
    ]
    lists = [table.select(pl.all().implode()) for table in tables if table.width]
    return pl.concat([pl.DataFrame(told), *lists], how="horizontal")


def unpacked(row: pl.DataFrame, alone: Callable[[Document], Alone] = simulated_alone) -> RunData:
    """The run of such a row; its flows are run ``alone`` where a metric asks for that."""
    tables: dict[str, dict[str, Column]] = {table: {} for table in TABLES}
    for column in row.columns:
        table, dot, name = column.partition(".")
        if dot and row[column][0] is not None:
            # A view would keep all runs of the file in memory.
            tables.setdefault(table, {})[name] = row[column][0].to_numpy().copy()
    scenario = json.loads(row["scenario"][0])
    return RunData(scenario, tables, json.loads(row["network"][0]), alone(scenario))


class Samples:
    """The samples of one result directory."""

    def __init__(self, directory: Path, warn: Warn) -> None:
        self.batches = Batches(directory, warn, DIRECTORY, merge=False)
        self._waiting: list[pl.DataFrame] = []
        self._bytes = 0

    def add(self, row: pl.DataFrame) -> None:
        """Takes in a packed run; it is stored at the next flush."""
        self._waiting.append(row)
        self._bytes += int(row.estimated_size())

    @property
    def full(self) -> bool:
        """Whether so much waits that it is time to flush."""
        return self._bytes >= MOST_WAITING

    def tidy(self) -> None:
        """Clears up what a killed writer left. Only the holder of the lock may."""
        self.batches.remove_partial()

    def flush(self) -> None:
        """Stores what waits."""
        if self._waiting:
            self.batches.append(pl.concat(self._waiting, how="diagonal_relaxed"))
            self.__dict__.pop("_places", None)
        self._waiting, self._bytes = [], 0

    def keys(self) -> set[str]:
        """The runs that are stored."""
        return set(self._places)

    def of(
        self, keys: set[str], alone: Callable[[Document], Alone] = simulated_alone
    ) -> Iterator[tuple[str, RunData]]:
        """These runs, each once, as :func:`unpacked`; one file at a time is in memory."""
        for path in sorted({self._places[key] for key in keys}):
            for row in read(local(path)).iter_slices(1):
                key = row["key"][0]
                if key in keys and self._places[key] == path:
                    yield key, unpacked(row, alone)

    def one(self, key: str) -> RunData:
        """A stored run."""
        rows = read(local(self._places[key]))
        return unpacked(rows.filter(pl.col("key") == key).head(1))

    @cached_property
    def _places(self) -> dict[str, Path]:
        """The file of each run."""
        paths = self.batches.whole()
        return {key: path for path in paths for key in read(local(path), ["key"])["key"]}
