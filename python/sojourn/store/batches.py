"""Many runs on disk: Parquet files of a batch of runs each.

A file's name ends with a digest of its content, so that a damaged file is told from a whole one.
Small files are merged as they become many; a merged file is in place before the small ones go, so
a crash in between leaves runs twice, which readers skip and the next writer clears up.
"""

from __future__ import annotations

import hashlib
import io
import sys
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl

from sojourn.errors import SojournError
from sojourn.store.files import PARTIAL, write_atomically

DIRECTORY = "runs"
QUARANTINE = "quarantine"
#: A row is identified by these.
IDENTITY = ("key", "point", "scope", "id")
#: So many small files become one.
MERGE = 32
_SMALL, _MERGED = "batch", "merged"
_ATTEMPTS = 5

Warn = Callable[[str], None]


class Batches:
    """The batch files of one result directory."""

    def __init__(self, directory: Path, warn: Warn | None = None) -> None:
        self.directory = directory / DIRECTORY
        self._quarantine = directory / QUARANTINE
        self._warn = warn or (lambda message: print(f"sojourn: {message}", file=sys.stderr))

    def append(self, rows: pl.DataFrame) -> None:
        """Stores rows; they are safe when this returns. Only the holder of the lock may."""
        self._write(_SMALL, rows)
        small = self._files(_SMALL)
        if len(small) >= MERGE:
            self._merge(small)

    def read(self, columns: Iterable[str] | None = None) -> pl.DataFrame:
        """All rows, each once. Damaged files are set aside with a warning."""
        for _ in range(_ATTEMPTS):
            try:
                frames = [self._load(path, columns) for path in self._files()]
            except FileNotFoundError:
                continue  # merged away by a sweep at work: look again
            whole = [frame for frame in frames if frame is not None]
            if not whole:
                return pl.DataFrame(schema=dict.fromkeys(columns or IDENTITY, pl.String))
            rows = pl.concat(whole, how="diagonal_relaxed")
            identity = [name for name in IDENTITY if name in rows.columns]
            return rows.unique(subset=identity, keep="first", maintain_order=True)
        raise SojournError(f"{self.directory}: keeps changing; try again")

    def tidy(self) -> None:
        """Clears up what a killed writer left: partial files, and files merged already."""
        if not self.directory.is_dir():
            return
        for partial in self.directory.glob(f".*{PARTIAL}"):
            partial.unlink()
        merged: set[tuple[str, ...]] = set()
        for path in self._files(_MERGED):
            merged |= self._identities(path)
        for path in self._files(_SMALL) if merged else ():
            if self._identities(path) <= merged:
                path.unlink(missing_ok=True)

    def _identities(self, path: Path) -> set[tuple[str, ...]]:
        frame = self._load(path, IDENTITY)
        return set() if frame is None else set(frame.rows())

    def _files(self, kind: str = "") -> list[Path]:
        return sorted(self.directory.glob(f"{kind}*.parquet"))

    def _write(self, kind: str, rows: pl.DataFrame) -> None:
        buffer = io.BytesIO()
        rows.write_parquet(buffer)
        content = buffer.getvalue()
        name = f"{kind}-{uuid.uuid4().hex[:12]}-{_digest(content)}.parquet"
        write_atomically(self.directory / name, lambda partial: partial.write_bytes(content))

    def _merge(self, small: list[Path]) -> None:
        frames = [frame for path in small if (frame := self._load(path, None)) is not None]
        self._write(_MERGED, pl.concat(frames, how="diagonal_relaxed"))
        for path in small:
            path.unlink(missing_ok=True)

    def _load(self, path: Path, columns: Iterable[str] | None) -> pl.DataFrame | None:
        """A file's rows; ``None`` if it is damaged, after setting it aside."""
        content = path.read_bytes()
        if path.stem.rpartition("-")[2] != _digest(content):
            self._set_aside(path)
            return None
        wanted = None if columns is None else list(columns)
        return pl.read_parquet(io.BytesIO(content), columns=wanted)

    def _set_aside(self, path: Path) -> None:
        self._quarantine.mkdir(exist_ok=True)
        target = self._quarantine / path.name
        path.replace(target)
        self._warn(f"{path} is damaged: moved to {target}; the runs it held will be run again")


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
