"""One sweep at a time per directory of an object store, which has no locks.

Who wants to write creates the next of numbered objects, which only one can. It names the files that
hold from before; of those that come, only files with its number do. So a writer that was taken for
dead, and wakes up, writes what nobody reads; whatever clocks say, nothing is doubled. A living one
says so every few seconds, and who waits for it only looks whether that goes on.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.interruption import heard
from sojourn.store.location import create, write

DIRECTORY = "writers"
#: A writer that has not been heard of for so long is dead, and how often it says something, s.
LAPSE = 30.0
BEAT = 5.0
_ENDED = b"ended"

#: Numbers of the writers that this process is, by directory.
_own: dict[str, int] = {}


@contextmanager
def exclusive(directory: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Makes this process the directory's writer; ``waiting`` is called if there is another."""
    number = _acquire(directory, waiting)
    beat, ended = _beat(directory, number), threading.Event()
    write(beat, b"0")
    heart = threading.Thread(target=_live, args=(beat, ended), daemon=True)
    heart.start()
    _own[str(directory)] = number
    try:
        yield
    finally:
        _own.pop(str(directory), None)
        ended.set()
        heart.join()
        write(beat, _ENDED)


def mark(directory: Path) -> str:
    """What the names of this writer's files have in them.

    Raises:
        SojournError: if another has taken its place.

    """
    number = _own[str(directory)]
    if _newest(directory) != number:
        raise SojournError(
            f"{directory}: another sweep has taken this one for dead and goes on with it"
        )
    return f"{number:06d}."


def valid(directory: Path, files: Iterable[Path]) -> list[Path]:
    """Of files that are there, those that hold."""
    newest = _newest(directory)
    if not newest:
        return []
    before = set(json.loads(_writer(directory, newest).read_text(encoding="utf-8")))
    return [f for f in files if _number(f.name) == newest or f.name in before]


def _acquire(directory: Path, waiting: Callable[[], None]) -> int:
    told = False
    while True:
        newest = _newest(directory)
        if newest and not _has_ended(directory, newest):
            if not told:
                waiting()
            told = True
            if not _is_dead(directory, newest):
                continue
        held = sorted(f.name for f in valid(directory, directory.glob("runs/*.parquet")))
        following = _writer(directory, newest + 1)
        content = json.dumps(held).encode()
        if create(following, content):
            if create(following, content):
                raise SojournError(
                    f"{directory}: this object store cannot create an object only where there is "
                    "none (If-None-Match), which sweeps need; give a path"
                )
            _tidy(directory, newest)
            return newest + 1


def _is_dead(directory: Path, number: int) -> bool:
    """Waits until a writer has ended, or has not been heard of for :data:`LAPSE`."""
    last, since = b"", time.monotonic()
    while time.monotonic() - since < LAPSE:
        said = _said(directory, number)
        if said == _ENDED or _newest(directory) != number:
            return False
        if said != last:
            last, since = said, time.monotonic()
        with heard():
            time.sleep(BEAT / 5)
    return True


def _has_ended(directory: Path, number: int) -> bool:
    return _said(directory, number) == _ENDED


def _said(directory: Path, number: int) -> bytes:
    try:
        return _beat(directory, number).read_bytes()
    except FileNotFoundError:
        return b""


def _live(beat: Path, ended: threading.Event) -> None:
    count = 0
    while not ended.wait(BEAT):
        count += 1
        write(beat, str(count).encode())


def _newest(directory: Path) -> int:
    """The number of the last writer; 0 if there was none."""
    return max(map(_number, (p.name for p in directory.glob(f"{DIRECTORY}/*.json"))), default=0)


def _tidy(directory: Path, newest: int) -> None:
    """Removes what nobody needs of the writers before the last one."""
    for path in directory.glob(f"{DIRECTORY}/*"):
        if _number(path.name) < newest:
            path.unlink(missing_ok=True)


def _number(name: str) -> int:
    """Of a writer's object ``NUMBER.json``, or of the writer of a file ``batch-NUMBER.ID-...``."""
    return int(name.split(".", maxsplit=1)[0].rpartition("-")[2])


def _writer(directory: Path, number: int) -> Path:
    return directory / DIRECTORY / f"{number:06d}.json"


def _beat(directory: Path, number: int) -> Path:
    return directory / DIRECTORY / f"{number:06d}.beat"
