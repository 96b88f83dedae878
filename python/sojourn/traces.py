"""Packet-delivery traces read from files, as Mahimahi writes them.

A scenario names one as ``trace = { file = "cellular.down" }``, relative to the scenario's own
file. The file holds one number per line: a time in milliseconds at which one packet can be
delivered. Its content takes the place of its name before the scenario is validated, so it belongs
to what is hashed and stored, and the simulator itself reads no file.
"""

from __future__ import annotations

from collections.abc import MutableMapping, MutableSequence
from pathlib import Path

from sojourn import literal, regular_file
from sojourn.errors import ScenarioError
from sojourn.json_types import Scalar

#: Of a number that the simulator takes.
_DIGITS = 10


def inline(node: object, base: Path, where: str = "") -> None:
    """Replaces every ``trace.file`` below ``node`` by the numbers in the file, in place.

    Raises:
        ScenarioError: naming the field, if a file cannot be read or holds something else.

    """
    children: list[tuple[object, object]] = []
    if isinstance(node, MutableMapping):
        children = list(node.items())
    elif isinstance(node, MutableSequence):
        children = list(enumerate(node))
    for key, child in children:
        field = f"{where}.{key}" if where else str(key)
        if key == "trace" and isinstance(child, MutableMapping) and "file" in child:
            child["opportunities"] = _read(base, child.pop("file"), f"{field}.file")
        elif not isinstance(child, Scalar):
            inline(child, base, field)


def _read(base: Path, name: object, field: str) -> list[int]:
    if not isinstance(name, str):
        raise ScenarioError(f"{field}: {literal.given(name)} given; expected the name of a file")
    path = base / name
    try:
        lines = regular_file.text(path, "ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not a text of numbers"
        raise ScenarioError(f"{field}: {path}: cannot be read: {reason}") from None
    for number, line in enumerate(lines, start=1):
        if not line.isdigit() or len(line) > _DIGITS:
            told = f"{literal.given(line)} is not a time in milliseconds"
            raise ScenarioError(f"{field}: {path}, entry {number}: {told}")
    return [int(line) for line in lines]
