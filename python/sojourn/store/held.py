"""Directories that processes hold for as long as they live: the system gives up their locks however
they end. Where it has no locks of directories nobody can tell, and they count as held.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sojourn.interruption import heard
from sojourn.spool import locked


@contextmanager
def holding(directory: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[bool]:
    """Holds a directory alone; whether it is still there, under its name, when it is held.
    ``waiting`` is called if another process holds it.
    """
    handle = locked(directory, 0)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            with heard():
                fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:  # it has no locks
            pass
        same = False
        with suppress(FileNotFoundError):
            same = os.path.samestat(os.fstat(handle), directory.stat())
        yield same
    finally:
        os.close(handle)


def shared(directory: Path) -> int:
    """A descriptor that holds a directory beside others, until it is closed."""
    handle = locked(directory, 0)
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_SH)
    return handle


def is_held(directory: Path) -> bool:
    """Whether a process holds it, or nobody can tell."""
    try:
        os.close(locked(directory, fcntl.LOCK_EX | fcntl.LOCK_NB))
    except OSError as error:
        return error.errno != errno.ENOENT
    return False
