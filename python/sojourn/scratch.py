"""Files that are needed for as long as this process lasts, in a directory of its own.

Threads may want the same one at once: each that does not find it makes it beside its place, and the
first one's is put there, so that whoever finds it finds it whole.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

#: Where that directory is made, if it is not where the system keeps such files.
base: str | None = None

_making = threading.Lock()


def kept(name: str, make: Callable[[Path], object]) -> Path:
    """The file or directory that ``make`` makes at a path, from before if it is there. What is
    called the same has the same content.
    """
    place = directory() / name
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=directory()) as beside:
            made = Path(beside) / name
            make(made)
            try:
                made.rename(place)
            except OSError:
                if not place.is_dir():  # else another thread's is there by now
                    raise
    return place


def directory() -> Path:
    """The directory."""
    with _making:
        return _made()


@cache
def _made() -> Path:
    made = tempfile.mkdtemp(prefix="sojourn-", dir=base)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)
