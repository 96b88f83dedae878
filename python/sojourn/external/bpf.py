"""Controls that are BPF programs: the kernel runs them, and nothing of them runs here."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sojourn import literal, regular_file
from sojourn.errors import refused
from sojourn.json_types import Fields

_KEYS = {"object": "the name of a compiled BPF object", "name": "the name of a control in it"}
#: Bytes of a control's name in the kernel, with the zero at its end.
_LONGEST = 15


def canonical(table: Fields) -> dict[str, object]:
    """The table of a control with the digest of its object.

    Raises:
        ScenarioError: naming the key, what was given and what is allowed.

    """
    for key, expected in _KEYS.items():
        if key not in table:
            raise refused(key, f"is missing; expected {expected}")
        if not isinstance(table[key], str):
            raise refused(key, f"{literal.given(table[key])} given; expected {expected}")
    for key in table:
        if key not in (*_KEYS, "digest"):
            raise refused(key, "a BPF program has no parameters: what it needs is compiled in")
    name = table["name"]
    if not 1 <= len(name.encode()) <= _LONGEST:
        raise refused("name", f"{literal.given(name)} given; allowed: 1 to {_LONGEST} characters")
    return {**table, "digest": _digest(table)}


def _digest(table: Fields) -> str:
    path = table["object"]
    try:
        content = regular_file.content(Path(path))
    except OSError as error:
        raise refused("object", f"{path}: cannot be read: {error.strerror}") from None
    found = hashlib.blake2b(content, digest_size=16).hexdigest()
    if table.get("digest", found) != found:
        message = f"{path} has changed since the scenario was read; read the scenario again"
        raise refused("object", message)
    return found
