"""One sweep at a time per directory: the next waits until the first is done, or dead."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.interruption import heard
from sojourn.store import lease
from sojourn.store.location import is_remote

FILE = ".lock"


@contextmanager
def exclusive(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the directory's lock. The system releases it however the process ends; ``waiting`` is
    called if another process holds it. On an object store it is a lease.
    """
    if is_remote(directory):
        with lease.exclusive(directory, waiting):
            yield
        return
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            with heard():
                fcntl.flock(file, fcntl.LOCK_EX)
        yield
