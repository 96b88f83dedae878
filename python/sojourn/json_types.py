"""What JSON and TOML hold, for documents that cross the package's borders: types, tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: One value of a row, a cell of a table, a coordinate of a sweep.
Scalar = str | int | float | bool | None
#: What is read of JSON or TOML. Who reads it asks for its kind: ``isinstance(value, dict)``.
Json = Scalar | list["Json"] | dict[str, "Json"]
#: What can be written as JSON: the same of sequences and mappings of any kind.
Jsonable = Scalar | Sequence["Jsonable"] | Mapping[str, "Jsonable"]
#: The fields of a table of a scenario (a flow, a link, a control) that the core checks. They depend
#: on its kind and on members that are not known here, so that their values have no types.
Fields = Mapping[str, Any]


def tables(node: object) -> Iterator[Fields]:
    """A document's tables, each before those that it has."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        children: list[object] = node if isinstance(node, list) else []
        if isinstance(node, Mapping):
            yield node
            children = list(node.values())
        waiting += [child for child in reversed(children) if not isinstance(child, Scalar)]
