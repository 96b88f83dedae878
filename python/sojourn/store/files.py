"""Files that are whole or not there: written beside their place, synced, renamed."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

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
            partials[name] = _temporary(directory)
            write(partials[name])
            _sync(partials[name])
        for name, partial in partials.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            partial.replace(directory / name)
        _sync(directory)
    except BaseException:
        for partial in partials.values():
            with contextlib.suppress(OSError):
                partial.unlink()
        raise


def _put_together(directory: Path, files: Mapping[str, Write]) -> None:
    with tempfile.TemporaryDirectory(prefix="sojourn-") as here:
        for name, write in files.items():
            (Path(here) / name).parent.mkdir(parents=True, exist_ok=True)
            write(Path(here) / name)
        for name in files:
            location.write(directory / name, (Path(here) / name).read_bytes())


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


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
