"""Files that people name: only regular ones of a limited size are read.

A FIFO would wait for a writer for ever, and a device such as ``/dev/zero`` has no end.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO

#: Bytes of a text at most: a scenario, a trace, a source.
TEXT = 64 << 20
#: Bytes of compiled code at most.
CODE = 1 << 30
#: Read at once: a call that asks for more takes memory for all that it asks for.
_PIECE = 1 << 20
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
}


def opened(path: Path, most: int) -> BinaryIO:
    """The file, open for reading. It is looked at after it is open, so that nothing can take its
    place between.

    Raises:
        OSError: if it cannot be opened, is no regular file, or has more than ``most`` bytes; its
            ``strerror`` says so.

    """
    # A FIFO without a writer opens at once; for regular files the flag has no meaning.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
            raise _wrong(path, f"it is {kind}; expected a regular file")
        _check_size(path, found.st_size, most)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def content(path: Path, most: int = CODE) -> bytes:
    """The file's bytes.

    Raises:
        OSError: as :func:`opened`; also if it grows beyond ``most`` while it is read.

    """
    pieces, size = [], 0
    with opened(path, most) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            _check_size(path, size, most)
    return b"".join(pieces)


def text(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The file as text, of at most :data:`TEXT` bytes; ends of lines as when a text file is read.

    Raises:
        OSError: as :func:`content`.
        UnicodeDecodeError: if it is not of the encoding.

    """
    return io.TextIOWrapper(io.BytesIO(content(path, TEXT)), encoding, errors).read()


def _check_size(path: Path, size: int, most: int) -> None:
    if size > most:
        raise _wrong(path, f"it has {size:,} bytes; at most {most:,} are read")


def _wrong(path: Path, message: str) -> OSError:
    return OSError(errno.EINVAL, message, str(path))
