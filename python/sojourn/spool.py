"""Tables on disk: those that a run writes while it goes on, and those that are too long to be read
as a whole.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import polars as pl

from sojourn.metrics.columns import Column, Table

#: Rows from which on the core passes samples on, and a stored table is read column by column.
LONG = 1 << 16

#: Takes the name of a table and the columns of its next rows.
Take = Callable[[str, Mapping[str, Column]], object]


class OnDisk(Mapping[str, Column]):
    """A table whose columns are read when they are needed, each time anew."""

    def __init__(self, rows: pl.LazyFrame, place: object = None) -> None:
        """``place`` is what the rows last as long as."""
        #: All of it, as polars reads it.
        self.rows = rows
        self._place = place

    @cached_property
    def _names(self) -> list[str]:
        return self.rows.collect_schema().names()

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return int(self.rows.select(pl.len()).collect().item())

    @property
    def nbytes(self) -> int:
        """What its columns take in memory."""
        return 8 * self.height * len(self)

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise KeyError(name)
        return self.rows.select(name).collect().to_series().to_numpy()

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def scanned(table: Table) -> pl.LazyFrame:
    """A table as polars reads it, column by column if it is on disk."""
    return table.rows if isinstance(table, OnDisk) else pl.DataFrame(dict(table)).lazy()


class Spool:
    """Parts of tables in a temporary directory, which is made with the first one and lasts as long
    as this, and as the tables that it gives.
    """

    def __init__(self, below: Path | None = None) -> None:
        """``below`` is where the directory is made, by default where temporary files are."""
        self._below = below
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._parts: dict[str, list[Path]] = {}
        self._schemas: dict[str, pl.Schema] = {}  # of the first parts

    def write(self, name: str, rows: pl.DataFrame) -> None:
        """Writes the next rows of a table; their types are those of the first."""
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(
                prefix=".spool-", suffix=".partial", dir=self._below, ignore_cleanup_errors=True
            )
        parts = self._parts.setdefault(name, [])
        path = Path(self._directory.name) / f"{name}-{len(parts):09}"
        rows.cast(self._schemas.setdefault(name, rows.schema)).write_parquet(path)
        parts.append(path)

    def add(self, name: str, columns: Mapping[str, Column]) -> None:
        """Takes rows of one of the core's tables while it runs (:data:`Take`). What is absent is so
        in all rows of a component, so that the first rows have the types of all.
        """
        self.write(name, pl.DataFrame(dict(columns)))

    def scan(self, name: str) -> pl.LazyFrame:
        """The rows of a table that has been written."""
        return pl.scan_parquet(self._parts[name])

    def whole(self, rest: Mapping[str, Table]) -> dict[str, Table]:
        """The core's tables, of some of which it has passed the first rows on while it ran: with
        those, if there are any, on disk; else in memory, as they are.
        """
        for name in self._parts:
            self.add(name, rest[name])
        return {
            name: OnDisk(self.scan(name), self) if name in self._parts else table
            for name, table in rest.items()
        }
