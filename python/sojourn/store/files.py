"""Files that are whole or not there: written beside their place, synced, renamed."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Suffix of files being written; leftovers of a killed process are ignored and swept up.
PARTIAL = ".partial"


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Calls ``write`` with a temporary path, then renames it to ``path``; all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=PARTIAL, dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        partial.chmod(0o644)
        write(partial)
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON file atomically."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
