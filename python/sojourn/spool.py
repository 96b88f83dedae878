"""Tables on disk: those that a run writes while it goes on, and those that are too long to be read
as a whole.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from sojourn.disk import naming, write
from sojourn.metrics.columns import Column, Table

#: Rows from which on the core passes samples on, and a stored table is read column by column.
LONG = 1 << 16

#: Rows that whoever reads a part has to have in memory at once.
_GROUP = 1 << 14
#: Values of a column that are read at once: it is in memory once, not as polars has it as well.
_AT_ONCE = 1 << 18
#: Parameters of mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3

#: Names of temporary directories.
_PREFIX, _SUFFIX = ".spool-", ".partial"
#: Takes the name of a table and the columns of its next rows, which it may take out.
Take = Callable[[str, dict[str, Column]], object]


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

    def write(self, path: Path) -> None:
        """Writes all of it as one Parquet file; few rows are in memory at a time, whatever number
        of processors would like to have some.
        """

        def parts(*_: object) -> Iterator[pl.DataFrame]:
            for first in range(0, self.height, LONG):
                yield self.rows.slice(first, LONG).collect()

        whole = register_io_source(parts, schema=self.rows.collect_schema())
        whole.sink_parquet(path, row_group_size=LONG)

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise KeyError(name)
        column = self.rows.select(name)
        values = np.empty(self.height, column.collect_schema()[name].to_python())
        for first in range(0, self.height, _AT_ONCE):
            part = column.slice(first, _AT_ONCE).collect().to_series()
            values[first : first + _AT_ONCE] = part.to_numpy()
        return values

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
        """``below`` is where the directory is made; by default, and for a place on an object store,
        it is where temporary files are.
        """
        self._below = below if isinstance(below, Path) else None
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._parts: dict[str, list[Path]] = {}
        self._schemas: dict[str, pl.Schema] = {}  # of the first parts
        self._first: dict[str, dict[str, Column]] = {}  # rows that wait for more

    def write(self, name: str, rows: pl.DataFrame) -> None:
        """Writes the next rows of a table; their types are those of the first."""
        parts = self._parts.setdefault(name, [])
        path = self.path(f"{name}-{len(parts):09}")
        rows = rows.cast(self._schemas.setdefault(name, rows.schema))
        write(rows, path, _GROUP)
        parts.append(path)

    def append(self, name: str, content: bytes) -> None:
        """Writes the next bytes of a file that is none of rows."""
        path = self.path(name)
        path.parent.mkdir(exist_ok=True)
        with naming(path), path.open("ab") as file:
            file.write(content)

    def path(self, name: str) -> Path:
        """Where a file of this name is, if there is one."""
        while self._directory is None:
            made = tempfile.TemporaryDirectory(
                prefix=_PREFIX, suffix=_SUFFIX, dir=self._below, ignore_cleanup_errors=True
            )
            with suppress(OSError):  # without locks nobody can tell, and nothing is removed
                weakref.finalize(self, os.close, locked(Path(made.name), fcntl.LOCK_EX))
            if Path(made.name).exists():  # else it was taken for that of somebody dead
                self._directory = made
        return Path(self._directory.name) / name

    def add(self, name: str, columns: dict[str, Column]) -> None:
        """Takes rows of one of the core's tables while it runs (:data:`Take`). What is absent is so
        in all rows of a component, so that the first rows have the types of all. They are written
        when more follow: of a table that ends soon, writing and reading would take the most time.
        """
        if name not in self._parts and name not in self._first and _height(columns) < 2 * LONG:
            self._first[name] = {one: columns.pop(one) for one in [*columns]}
            return
        self._put(name, self._first.pop(name, {}))
        self._put(name, columns)

    def _put(self, name: str, columns: dict[str, Column]) -> None:
        if columns:  # No column is in memory twice but the one that is copied.
            made = pl.DataFrame([pl.Series(one, columns.pop(one)) for one in [*columns]])
            self.write(name, made)

    def scan(self, name: str) -> pl.LazyFrame:
        """The rows of a table that has been written or added."""
        self._put(name, self._first.pop(name, {}))
        return pl.scan_parquet(self._parts[name], glob=False)

    def whole(self, rest: Mapping[str, Table]) -> dict[str, Table]:
        """The core's tables, of some of which it has passed the first rows on while it ran: with
        those, on disk if they are many; else in memory.
        """
        for name in self._parts:
            self.add(name, dict(rest[name]))
        if self._parts:
            _give_back()
        return {name: self._table(name, table) for name, table in rest.items()}

    def _table(self, name: str, rest: Table) -> Table:
        if name in self._parts:
            return OnDisk(self.scan(name), self)
        first = self._first.pop(name, None)
        return {one: _joined(first.pop(one), rest[one]) for one in [*first]} if first else rest


def _height(columns: Mapping[str, Column]) -> int:
    return max(map(len, columns.values()), default=0)


def _joined(first: Column, rest: Column) -> Column:
    """Of the type of the first."""
    if rest.dtype != first.dtype:  # as :meth:`Spool.write` does: no value may change
        rest = pl.Series(rest).cast(pl.Series(first[:0]).dtype).to_numpy()
    return np.concatenate([first, rest])


def clear_dead(below: Path) -> None:
    """Removes the temporary directories below one whose processes are dead: the system gives up
    their locks however they end.
    """
    for left in below.glob(f".*{_SUFFIX}/"):
        with suppress(OSError):  # it is somebody's, or no directory
            lock = locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                shutil.rmtree(left)
            finally:
                os.close(lock)


def locked(directory: Path, how: int) -> int:
    """A descriptor of a directory that locks it so, if at all."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if how:
            fcntl.flock(descriptor, how)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def keep_memory() -> None:
    """Has the C library keep what is let go of, up to 64 MB, where it can be told so: otherwise
    the system gives each batch of bytes new pages, and clears them.
    """
    if tell := getattr(ctypes.CDLL(None), "mallopt", None):
        tell(_TRIM_THRESHOLD, 1 << 26)
        tell(_MMAP_THRESHOLD, 1 << 25)


def _give_back() -> None:
    """Has the C library return the memory of columns that are gone, where small things lie between
    them: it would stay with the process, and long columns do not fit in.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
