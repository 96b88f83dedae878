"""What the core asks the package for when a scenario names a control from outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from sojourn import _internal, class_sources, literal
from sojourn.errors import LostError, refused
from sojourn.executors import processes
from sojourn.external import bpf, inside, python_class, sources
from sojourn.json_types import Fields
from sojourn.linux import tables

make = python_class.make
linux_library = tables.loadable

#: By kind: fills in the parameters of a table. They run the control's code.
_DESCRIBE: Mapping[str, Callable[[Fields], Mapping[str, object]]] = {
    "python": python_class.described,
    "library": lambda table: dict(json.loads(_internal.describe_library(json.dumps(table)))),
    "linux": tables.described,
}


def canonical(kind: str, text: str) -> str:
    """A control's table with everything filled in, both in JSON.

    Raises:
        ScenarioError: naming the key, what was given and what is allowed.

    """
    table = json.loads(text)
    if kind == "bpf":
        return json.dumps(bpf.canonical(table))
    if kind == "linux":
        return _described(kind, json.dumps(tables.completed(table, "control")))
    if kind == "linux queue":
        return json.dumps(tables.checked(tables.completed(table, "queue")))
    if "path" in table or kind != "python":
        table["digest"] = _digest(table)
    elif not class_sources.is_known(table.get("digest", "")):
        raise refused("path", "is missing; expected the file of the class")
    if kind == "python":
        _check_text(table, "class", "the name of a class in the file")
    return _described(kind, json.dumps(table))


def described(kind: str, text: str, classes: dict[str, bytes]) -> str:
    """The same, in a worker process."""
    table = json.loads(text)
    inside.take(classes)
    with processes.phase(f"loading {_name(table)}"):
        return json.dumps(_DESCRIBE[kind](table))


@lru_cache(maxsize=1000)
def _described(kind: str, text: str) -> str:
    table = json.loads(text)
    classes = class_sources.pickled([table["digest"]])
    try:
        return str(processes.call(described, kind, text, classes))
    except LostError as error:
        raise refused("source" if kind == "linux" else "path", str(error)) from None


def _name(table: Fields) -> str:
    """What a table's control is called by: its file, or its class."""
    return str(table.get("path") or table.get("source") or table["class"])


def _digest(table: Mapping[str, object]) -> str:
    path = _check_text(table, "path", "the name of a file")
    try:
        found = sources.digest(Path(path))
    except OSError as error:
        raise refused("path", f"{path}: cannot be read: {error.strerror}") from None
    if table.get("digest", found) != found:
        message = f"{path} has changed since the scenario was read; read the scenario again"
        raise refused("path", message)
    return found


def _check_text(table: Mapping[str, object], key: str, expected: str) -> str:
    if key not in table:
        raise refused(key, f"is missing; expected {expected}")
    if not isinstance(table[key], str):
        raise refused(key, f"{literal.given(table[key])} given; expected {expected}")
    return str(table[key])
