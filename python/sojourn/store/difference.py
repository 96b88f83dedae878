"""How two scenarios differ, in words."""

from __future__ import annotations

from collections.abc import Iterator

#: More differences than this are not listed.
_MOST = 3
_LONGEST = 40


def difference(there: object, here: object) -> str:
    """Which fields differ, with both values; empty if none does."""
    left, right = dict(_fields(there, "")), dict(_fields(here, ""))
    paths = [p for p in dict.fromkeys((*left, *right)) if left.get(p) != right.get(p)]
    shown = [f"{p} is {_text(left.get(p))}, here {_text(right.get(p))}" for p in paths[:_MOST]]
    more = [f"{len(paths) - _MOST} more fields differ"] if len(paths) > _MOST else []
    return "; ".join([*shown, *more])


def _fields(node: object, path: str) -> Iterator[tuple[str, object]]:
    """Each value that is neither table nor list, with its path."""
    if isinstance(node, dict):
        entries = [(str(key), value) for key, value in node.items()]
    elif isinstance(node, (list, tuple)):
        entries = [(str(index), value) for index, value in enumerate(node)]
    else:
        yield path, node
        return
    for key, value in entries:
        yield from _fields(value, f"{path}.{key}" if path else key)


def _text(value: object) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
