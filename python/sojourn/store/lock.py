"""One sweep at a time per directory: the next waits until the first is done, or dead."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from sojourn.disk import naming
from sojourn.errors import ScenarioError
from sojourn.interruption import heard
from sojourn.store import lease
from sojourn.store.location import is_remote

FILE = ".lock"


@contextmanager
def exclusive(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the directory's lock. The system releases it however the process ends; ``waiting`` is
    called if another process holds it. On an object store it is a lease.

    Raises:
        ScenarioError: if its file is a symbolic link.

    """
    if is_remote(directory):
        with lease.exclusive(directory, waiting):
            yield
        return
    directory.mkdir(parents=True, exist_ok=True)
    with opened(directory / FILE) as file:
        try:
            with naming(directory / FILE):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            with heard():
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def opened(path: Path) -> FileIO:
    """A file to lock, made if there is none. Whoever has prepared the directory may have put
    anything in its place, so that it is neither emptied nor looked for elsewhere.

    Raises:
        ScenarioError: if it is a symbolic link.

    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ScenarioError(
            f"{path}: is a symbolic link, which no lock may be: remove it"
        ) from None
    return FileIO(handle, "r+")
