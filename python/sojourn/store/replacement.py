"""New results in the place of old ones, at one instant.

They are written apart, below the directory that they are for. When they are whole, their own
directory gets the name ``.whole``: from that instant they are the results. What follows, removing
the old ones and moving the new ones, is gone on with by whoever opens the directory next, if it was
cut short: first all of the old ones go (then the new ones are ``.cleared``), then files are moved.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.interruption import deferred
from sojourn.store.files import sync
from sojourn.store.held import holding
from sojourn.store.layout import MANIFEST, TREES, clear
from sojourn.store.location import is_remote
from sojourn.store.lock import FILE as LOCK
from sojourn.store.lock import exclusive

_WHOLE, _CLEARED = ".whole", ".cleared"


def replace(directory: Path, new: Path) -> None:
    """Makes the files below ``new``, a directory in ``directory``, its results. The caller holds
    it, so that others wait.

    Raises:
        SojournError: if something else is in the way of a file, and nothing has changed; or if the
            new results could not be put into their places, which the next command goes on with.

    """
    with deferred(), exclusive(directory, lambda: None):
        _check_way(directory, new)
        _sync(new)
        _rename(new, directory)
        _finish(directory)


def settle(directory: Path) -> None:
    """Goes on with a replacement that was cut short; waits for one that is going on.

    Raises:
        SojournError: if it cannot.

    """
    if is_remote(directory):
        return
    for name in (_CLEARED, _WHOLE):
        if (directory / name).is_dir():
            with deferred(), _alone(directory / name):
                _finish(directory)


def _rename(new: Path, directory: Path) -> None:
    while True:
        settle(directory)
        try:
            new.rename(directory / _WHOLE)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            break


def _finish(directory: Path) -> None:
    try:
        if (directory / _WHOLE).is_dir() and not (directory / _CLEARED).exists():
            sync(directory)
            clear(directory)
            _sync_names(directory)
            (directory / _WHOLE).rename(directory / _CLEARED)
        if (directory / _CLEARED).is_dir():
            sync(directory)
            _move(directory / _CLEARED, directory)
            _sync_names(directory)
            shutil.rmtree(directory / _CLEARED)
    except OSError as error:
        raise SojournError(
            f"{directory}: its new results are whole but not all in their places: "
            f"{error.strerror}: {error.filename}; once that is mended, any command that opens the "
            "directory goes on with it"
        ) from error


def _sync_names(directory: Path) -> None:
    """Of the files in it and below: those of before must not come back at a loss of power."""
    for path in directory.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            sync(path)
    sync(directory)


def _move(new: Path, directory: Path) -> None:
    """The manifest comes last: who does not know of replacements takes nothing for whole."""
    for path in sorted(new.rglob("*"), key=lambda path: path == new / MANIFEST):
        place = directory / path.relative_to(new)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif path.name != LOCK:
            path.replace(place)


def _check_way(directory: Path, new: Path) -> None:
    """Refuses what is neither results nor lets them into their places."""
    trees = [tree for pattern in TREES for tree in directory.glob(pattern)]
    for path in new.rglob("*"):
        place = directory / path.relative_to(new)
        in_tree = any(place.is_relative_to(tree) for tree in trees)
        if place.exists() and path.is_dir() != place.is_dir() and not in_tree:
            raise SojournError(
                f"{place}: is in the way of results: move it elsewhere; nothing has been replaced"
            )


def _sync(new: Path) -> None:
    """What was not synced when it was written."""
    for path in (*new.rglob("*"), new):
        with suppress(PermissionError):  # a program's, which was synced before it got its mode
            sync(path)


@contextmanager
def _alone(new: Path) -> Iterator[None]:
    """One at a time puts new results in their places, whatever these are called meanwhile."""
    with ExitStack() as stack:
        with suppress(FileNotFoundError):  # done meanwhile
            stack.enter_context(holding(new))
        yield
