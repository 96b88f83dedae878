"""What a disk has at a loss of power: content that was synced, names whose directory was.

Of a file that was not synced since it was written a drawn part is left. Changes of names that were
not synced are undone from the last one back, a drawn number of them: a disk keeps their order.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

Undo = Callable[[], None]
_replace, _rename, _unlink, _fsync = os.replace, os.rename, os.unlink, os.fsync


@dataclass
class Disk:
    """What the system holds back, of files below a directory."""

    below: Path
    #: Size and time of the last change of each file when it was synced.
    synced: dict[int, tuple[int, int]] = field(default_factory=dict)
    #: What undoes changes of names, with their directories, in order.
    names: list[tuple[set[Path], Undo]] = field(default_factory=list)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Where changes are noted."""
        with (
            mock.patch.object(os, "fsync", self.fsync),
            mock.patch.object(os, "replace", self.replace),
            mock.patch.object(os, "rename", self.replace),
            mock.patch.object(os, "unlink", self.unlink),
        ):
            yield

    def settle(self) -> None:
        """All that is there is on the disk."""
        self.names.clear()
        for path in files(self.below):
            self._note(path.stat())

    def fsync(self, file: int) -> None:
        place = Path(f"/proc/self/fd/{file}").readlink()
        _fsync(file)
        self._note(os.fstat(file))
        # What a directory that is gone had cannot come back once that is on the disk.
        self.names = [
            (of, undo)
            for of, undo in self.names
            if place not in of and all(one.exists() for one in of)
        ]

    def replace(self, old: Any, new: Any, **_options: Any) -> None:
        source, place = Path(old).absolute(), Path(new).absolute()
        before = None
        if place.is_file():
            before = self._content(place)
        _rename(source, place)

        def undo() -> None:
            _rename(place, source)
            if before:
                self._restore(place, *before)

        self.names.append(({source.parent, place.parent}, undo))

    def unlink(self, path: Any, **options: Any) -> None:
        place = Path(path).absolute()
        if options.get("dir_fd") is not None or not place.is_file() or place.is_symlink():
            _unlink(path, **options)
            return
        before = self._content(place)
        _unlink(place)
        self.names.append(({place.parent}, lambda: self._restore(place, *before)))

    def lose(self, draw: random.Random) -> None:
        """Power goes."""
        for _ in range(draw.randint(0, len(self.names))):
            with suppress(OSError):  # what it is in has been made since, and is gone as well
                self.names.pop()[1]()
        for path in files(self.below):
            known = path.stat()
            if self.synced.get(known.st_ino) != (known.st_size, known.st_mtime_ns):
                os.truncate(path, draw.randint(0, known.st_size))
        self.settle()

    def _content(self, place: Path) -> tuple[bytes, bool]:
        """A file's content, and whether that was synced: another file may have its number later."""
        known = place.stat()
        is_synced = self.synced.get(known.st_ino) == (known.st_size, known.st_mtime_ns)
        return place.read_bytes(), is_synced

    def _restore(self, place: Path, content: bytes, was_synced: bool) -> None:
        place.write_bytes(content)
        if was_synced:
            self._note(place.stat())

    def _note(self, known: os.stat_result) -> None:
        self.synced[known.st_ino] = known.st_size, known.st_mtime_ns


def files(directory: Path) -> list[Path]:
    """All files below a directory, in order."""
    return sorted(path for path in directory.rglob("*") if path.is_file())
