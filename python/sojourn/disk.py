"""Disks that fail, in words: which path, why, and what helps. Tables are read here, since Polars
takes a path for a pattern, and tells of a full disk as of a damaged file.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from sojourn.errors import SojournError

_ELSEWHERE = "or give a directory on another disk (--out)"
#: What helps where the system gives a reason.
_REMEDIES = {
    errno.ENOSPC: f"free some space, {_ELSEWHERE}",
    errno.EDQUOT: f"your quota of this disk is used up: remove something, {_ELSEWHERE}",
    errno.EROFS: f"mount it for writing, {_ELSEWHERE}",
    errno.EACCES: f"have its owner allow it, {_ELSEWHERE}",
    errno.EPERM: f"have its owner allow it, {_ELSEWHERE}",
    errno.ENOLCK: "this file system gives no locks: give a directory on another one (--out)",
    errno.ENOTSUP: f"this file system cannot do that: {_ELSEWHERE.removeprefix('or ')}",
    errno.ENAMETOOLONG: "give a shorter name (--out)",
    errno.EIO: f"the disk fails: see the system's log, {_ELSEWHERE}",
    errno.EMFILE: "too many files are open: raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine: close some programs",
}
#: What a damaged table or manifest takes.
DAMAGED = "is damaged: restore it from a copy, or make these results again (--force)"
_NUMBER = re.compile(r"\(os error (\d+)\)")


def told(error: OSError) -> str:
    """Path, reason and remedy of an error of the system."""
    if error.errno is None:
        return str(error)
    reason = (
        f"{error.strerror}; {_REMEDIES[error.errno]}"
        if error.errno in _REMEDIES
        else (error.strerror or str(error))
    )
    return reason if error.filename is None else f"{os.fsdecode(error.filename)}: {reason}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Where errors are of one path, whether the system names it or not, and whoever tells of them.

    Raises:
        OSError: in the place of one of the system, with the path.

    """
    try:
        yield
    except OSError as error:
        number = error.errno or _number(error)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error
    except pl.exceptions.PolarsError as error:
        number = _number(error)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Around what writes a file, of which Polars may not say why it cannot.

    Raises:
        OSError: if the system says why.
        SojournError: if not.

    """
    try:
        with naming(path):
            yield
    except pl.exceptions.PolarsError as error:
        raise SojournError(
            f"{path}: cannot be written ({error}): free some space, {_ELSEWHERE}"
        ) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Around what reads a table.

    Raises:
        SojournError: if it is damaged.

    """
    try:
        with naming(path):
            yield
    except pl.exceptions.PolarsError as error:
        raise SojournError(f"{path}: {DAMAGED} ({error})") from None
    except OSError as error:
        raise SojournError(told(error)) from None


def scan(path: Path) -> pl.LazyFrame:
    """A table, to be read when it is needed."""
    return pl.scan_parquet(path, glob=False)


def read(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """A table, or these columns of it.

    Raises:
        FileNotFoundError: if it is not there any more.
        SojournError: if it is damaged.

    """
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    with reading(path):
        return pl.read_parquet(path, columns=columns, glob=False)


def write(frame: pl.DataFrame, path: Path, row_group_size: int | None = None) -> None:
    """Writes a table by one call of the system: where Polars does, by several threads, it may wait
    forever once the disk has failed.

    Raises:
        OSError: if it cannot be written, with the path.

    """
    content = io.BytesIO()
    frame.write_parquet(content, row_group_size=row_group_size)
    with naming(path):
        path.write_bytes(content.getbuffer())


def _number(error: BaseException) -> int | None:
    """The system's number of an error that has it in its text only."""
    found = _NUMBER.search(str(error))
    return int(found[1]) if found else None
