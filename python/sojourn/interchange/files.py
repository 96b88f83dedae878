"""Files of other programs, told by their first bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from sojourn import regular_file
from sojourn.errors import ScenarioError
from sojourn.interchange.observed import MOST, Asked, Imported

#: What reads a file that begins so; others are captures.
_BEGINNINGS: Mapping[bytes, str] = {
    b"\x1f\x8b": "sojourn.interchange.flent",
    b"\x1e": "sojourn.interchange.qlog",
    b"{": "sojourn.interchange.qlog",
}
_CAPTURES = "sojourn.interchange.capture"
_LONGEST = 4


def read(asked: Asked) -> Imported:
    """The run that a file tells of.

    Raises:
        ScenarioError: if the file cannot be read, or is of no known kind.

    """
    try:
        with regular_file.opened(asked.path, MOST) as file:
            first = file.read(_LONGEST)
    except OSError as error:
        raise ScenarioError(f"{asked.path}: cannot be read: {error.strerror}") from None
    module = next((of for head, of in _BEGINNINGS.items() if first.startswith(head)), _CAPTURES)
    reader: Callable[[Asked], Imported] = import_module(module).read
    return reader(asked)
