"""Files that are whole or not there: written beside their place, synced, renamed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from sojourn.disk import naming, writing
from sojourn.store import location
from sojourn.store.location import is_remote

#: Suffix of files being written; leftovers of a killed process are ignored and swept up.
PARTIAL = ".partial"
#: Characters of JSON that are still indented.
_LONGEST_INDENTED = 500_000
#: Writes a file at a path.
Write = Callable[[Path], object]


def write_atomically(path: Path, write: Write) -> None:
    """Calls ``write`` with a temporary path, then renames it to ``path``; all or nothing."""
    write_together(path.parent, {path.name: write})


def write_together(directory: Path, files: Mapping[str, Write]) -> None:
    """Writes several files; none is in its place before all are whole, and the last comes last."""
    if is_remote(directory):
        _put_together(directory, files)
        return
    directory.mkdir(parents=True, exist_ok=True)
    partials: dict[str, Path] = {}
    try:
        for name, write in files.items():
            with writing(directory / name):
                partials[name] = _temporary(directory)
                write(partials[name])
                sync(partials[name])
        for name in partials:
            _make_way(directory, PurePath(name))
        for name, partial in partials.items():
            with naming(directory / name):
                partial.replace(directory / name)
        sync(directory)
    except BaseException:
        for partial in partials.values():
            with contextlib.suppress(OSError):
                partial.unlink()
        raise


def _make_way(directory: Path, name: PurePath) -> None:
    """Removes a file where a directory of files that are to be written is, and the reverse: both
    are of what was written before.
    """
    for parent in reversed(name.parents[:-2]):  # below that of these files
        if not (directory / parent).is_dir():
            (directory / parent).unlink(missing_ok=True)
    (directory / name).parent.mkdir(parents=True, exist_ok=True)
    if len(name.parts) > 1 and (directory / name).is_dir():
        shutil.rmtree(directory / name)


def _put_together(directory: Path, files: Mapping[str, Write]) -> None:
    with tempfile.TemporaryDirectory(prefix="sojourn-") as here:
        for name, write in files.items():
            (Path(here) / name).parent.mkdir(parents=True, exist_ok=True)
            write(Path(here) / name)
        for name in files:
            location.write(directory / name, (Path(here) / name).read_bytes())


def clear_partial(directory: Path) -> None:
    """Removes the files that a killed process has not finished."""
    for left in directory.glob(f".*{PARTIAL}"):
        if not left.is_dir():
            left.unlink(missing_ok=True)


def copy(source: Path) -> Write:
    """Writes the same with the same permissions, whoever may look meanwhile."""

    def write(path: Path) -> None:
        path.touch()
        path.chmod(0o600)
        shutil.copyfile(source, path)
        path.chmod(stat.S_IMODE(source.stat().st_mode) & 0o777)

    return write


def write_json(value: object, path: Path) -> None:
    """Writes a JSON file, indented unless it is long: that takes many times as long."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _LONGEST_INDENTED:
        text = json.dumps(value, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _temporary(directory: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix=".", suffix=PARTIAL, dir=directory)
    os.close(handle)
    partial = Path(name)
    partial.chmod(0o644)
    return partial


def sync(path: Path) -> None:
    """Has the system write a file, or the names in a directory, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(handle)
    finally:
        os.close(handle)
