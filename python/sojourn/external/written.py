"""Controls from outside as a command line names them: by their files."""

from __future__ import annotations

from pathlib import Path

from sojourn import regular_file
from sojourn.errors import LostError, refused
from sojourn.external import sources
from sojourn.json_types import Json

#: By a file's ending: the kind of its control.
FILES = {".py": "python", ".so": "library"}


def is_file(text: str) -> bool:
    """Whether it names a control by its file."""
    return not text.lstrip().startswith("{") and Path(text.partition(":")[0]).suffix in FILES


def of_file(text: str) -> dict[str, Json]:
    """The table of ``FILE.py``, ``FILE.py:CLASS`` or ``FILE.so``.

    Raises:
        ScenarioError: if there is no such regular file, or not one control in it.

    """
    path, _, name = text.partition(":")
    kind = FILES[Path(path).suffix]
    absolute = str(Path(path).resolve())
    try:
        regular_file.opened(Path(path), regular_file.CODE).close()
    except OSError as error:
        raise refused("NAME", f"{path}: cannot be read: {error.strerror}") from None
    if kind != "python":
        return {"kind": kind, "path": absolute}
    return {"kind": kind, "path": absolute, "class": name or _only(absolute)}


def _only(path: str) -> str:
    from sojourn.executors import processes
    from sojourn.external import python_class

    try:
        names = processes.call(python_class.controls, path, sources.digest(Path(path)))
    except LostError as error:
        raise refused("NAME", str(error)) from None
    if len(names) != 1:
        told = ", ".join(names) or "classes that derive from sojourn.cca.Control"
        raise refused("NAME", f"{path} has {len(names)} controls: name one, {path}:CLASS ({told})")
    return str(names[0])
