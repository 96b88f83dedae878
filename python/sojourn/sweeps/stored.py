"""A stored sweep, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sojourn.errors import SojournError
from sojourn.origin import Origin
from sojourn.store import manifest
from sojourn.store.batches import Batches
from sojourn.store.rows import Grid
from sojourn.sweeps import directory as place
from sojourn.sweeps import table


class StoredSweep:
    """A stored sweep, as everything that looks at sweeps needs it."""

    def __init__(self, directory: Path) -> None:
        content = manifest.read(directory)
        if content["kind"] != place.KIND:
            raise SojournError(f"{directory}: holds a {content['kind']}, not a sweep")
        self.directory = directory
        #: The values of each field path.
        self.grid: Grid = content["grid"]
        self.replications: int = content["replications"]
        #: What tells its runs from those of other backends; empty of the simulator's.
        self.origin: Origin = content.get("origin") or {}
        self._made = content["engine"], content["metrics"]

    @property
    def summary(self) -> pl.DataFrame:
        """Mean, half width of the 95 % confidence interval, count, minimum and maximum of every
        metric at every point.
        """
        return table.summary(self.directory)

    @property
    def runs(self) -> pl.DataFrame:
        """One row per flow, link and network of every run, with the grid's values and all metrics
        as columns.
        """
        rows = table.ask(self.directory, lambda rows: rows.collect())
        return pl.DataFrame() if rows is None else rows

    def batches(self) -> Iterator[pl.DataFrame]:
        """The same, a file's rows at a time, for more rows than memory holds. Failures of runs that
        have succeeded since are among them.
        """
        mine = (pl.col("engine") == self._made[0]) & (pl.col("metrics") == self._made[1])
        for _, rows in Batches(self.directory).each():
            yield rows.filter(mine)

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Point and error of the runs that failed."""
        return table.failures(self.directory)
