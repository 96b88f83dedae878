"""Many runs on disk: Parquet files of a batch of runs each.

A file's name ends with a digest of its content, so that a damaged file is told from a whole one.
Small files are merged as they become many; a file that takes the place of others names them, and
is there before they go, so that after a crash in between readers skip them and the next writer
clears up.
Reading streams: memory does not grow with what is stored, but with what is asked for.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import polars as pl

from sojourn.disk import read, scan
from sojourn.errors import SojournError
from sojourn.literal import printable
from sojourn.store import lease
from sojourn.store.files import clear_partial, sync, write_atomically
from sojourn.store.location import is_remote, local

DIRECTORY = "runs"
QUARANTINE = "quarantine"
#: Where a merged file's metadata names the files that it holds.
_HOLDS = "sojourn.holds"
#: So many small files become one.
MERGE = 32
#: Readers hold about so many rows at a time.
_ROWS_AT_ONCE = 16384
_SMALL, _MERGED = "batch", "merged"
#: What files are called: kind, writer of an object store, name, digest.
_OURS = re.compile(rf"({_SMALL}|{_MERGED})-(\d{{6}}\.)?[0-9a-f]{{12}}-[0-9a-f]{{16}}")
_ATTEMPTS = 5
#: Files that were told of: each once.
_foreign: set[Path] = set()

Warn = Callable[[str], None]
Answer = TypeVar("Answer")


def tell(message: str) -> None:
    """Prints a warning."""
    print(f"sojourn: {printable(message)}", file=sys.stderr)


class Batches:
    """The batch files of one kind of one result directory."""

    def __init__(
        self,
        directory: Path,
        warn: Warn = tell,
        name: str = DIRECTORY,
        *,
        merge: bool = True,
    ) -> None:
        self.directory = directory / name
        self._top = directory
        self._is_leased = is_remote(directory) and name == DIRECTORY
        self._most_small = MERGE if merge else math.inf
        self._quarantine = directory / QUARANTINE
        self._warn = warn

    def append(self, rows: pl.DataFrame) -> None:
        """Stores rows; they are safe when this returns. Only the holder of the lock may."""
        self._write(_SMALL, rows)
        small = self._files(_SMALL)
        if len(small) >= self._most_small:
            self._merge(small)

    def copy(self, source: Path, rows: pl.DataFrame) -> None:
        """Stores rows of another directory's file. Only the holder of the lock may."""
        self._write(_kind(source), rows)

    def ask(self, question: Callable[[pl.LazyFrame], Answer]) -> Answer | None:
        """The answer of ``question`` to all rows, each once; ``None`` if nothing is stored.
        Damaged files are set aside with a warning.
        """
        for _ in range(_ATTEMPTS):
            try:
                files = [scan(local(path)) for path in self.whole()]
                return question(pl.concat(files, how="diagonal_relaxed")) if files else None
            except FileNotFoundError:
                continue  # merged away by a sweep at work: look again
        raise SojournError(
            f"{self.directory}: a sweep is writing to it; try again when that is done"
        )

    def read(self, columns: Iterable[str]) -> pl.DataFrame:
        """These columns of all rows; of texts if nothing is stored."""
        names = list(columns)
        rows = self.ask(lambda rows: rows.select(names).collect())
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String)) if rows is None else rows

    def each(self) -> Iterator[tuple[Path, pl.DataFrame]]:
        """Every file with its rows, one at a time."""
        for path in self.whole():
            yield path, read(local(path))

    def rewrite(self, change: Callable[[pl.DataFrame], pl.DataFrame | None]) -> None:
        """Puts other rows in the place of a file's: what ``change`` makes of them, unless ``None``.
        File by file and each at once, so that nothing is lost however it ends. Only the holder of
        the lock may.
        """
        for path, old in self.each():
            new = change(old)
            if new is not None:
                self._write(_kind(path), new, [path])
                path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Clears up what a killed writer left: partial files, and files merged already. What it has
        written and could not sync is on the disk from now on, and may be told as stored.
        """
        self.remove_partial()
        if not is_remote(self.directory) and self.directory.exists():
            sync(self.directory)
        for path in set(self._files()).difference(self.whole()):
            path.unlink(missing_ok=True)

    def remove_partial(self) -> None:
        """Removes the files that a killed writer has not finished."""
        if not is_remote(self.directory):
            clear_partial(self.directory)

    def whole(self) -> list[Path]:
        """The undamaged files but those that a merged one holds."""
        whole = [path for path in self._files() if self._check(path)]
        held = {name for path in whole for name in _holds(path)}
        return [path for path in whole if path.name not in held]

    def _files(self, kind: str = "") -> list[Path]:
        every = sorted(self.directory.glob(f"{kind}*.parquet"))
        found = [path for path in every if self._is_ours(path)]
        return lease.valid(self._top, found) if self._is_leased else found

    def _is_ours(self, path: Path) -> bool:
        """Whether a file is called as those of a store; others stay where they are."""
        if _OURS.fullmatch(path.stem):
            return True
        if path not in _foreign:
            _foreign.add(path)
            self._warn(f"{path} is no file of these results: it is left where it is, and not read")
        return False

    def _write(self, kind: str, rows: pl.DataFrame, holds: Iterable[Path] = ()) -> None:
        buffer = io.BytesIO()
        names = json.dumps([path.name for path in holds])
        rows.write_parquet(buffer, metadata={_HOLDS: names}, row_group_size=_ROWS_AT_ONCE)
        content = buffer.getvalue()
        mark = lease.mark(self._top) if self._is_leased else ""
        name = f"{kind}-{mark}{uuid.uuid4().hex[:12]}-{_digest(content)}.parquet"
        write_atomically(self.directory / name, lambda partial: partial.write_bytes(content))

    def _merge(self, small: list[Path]) -> None:
        whole = [path for path in small if self._check(path)]
        files = [read(local(path)) for path in whole]
        rows = pl.concat(files, how="diagonal_relaxed")
        self._write(_MERGED, rows, whole)
        for path in whole:
            path.unlink(missing_ok=True)

    def _check(self, path: Path) -> bool:
        """Whether a file is as it was written; sets it aside if not."""
        if path.stem.rpartition("-")[2] == _digest(local(path).read_bytes()):
            return True
        self._quarantine.mkdir(exist_ok=True)
        target = self._quarantine / path.name
        path.rename(target)
        self._warn(f"{path} is damaged: moved to {target}; the runs it held will be run again")
        return False


def _kind(path: Path) -> str:
    return path.name.partition("-")[0]


def _holds(path: Path) -> list[str]:
    names: list[str] = json.loads(pl.read_parquet_metadata(local(path)).get(_HOLDS, "[]"))
    return names


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
