"""Values of a sweep's axes that have a name: a table's ``name`` is its label in tables and figures,
and no part of what the scenario is given.
"""

from __future__ import annotations

from typing import TypeGuard

from sojourn.json_types import Json

KEY = "name"
#: Kinds whose tables have a ``name`` of their own.
_OWN_NAME = ("bpf", "kernel")


def is_labelled(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether a value is a table whose ``name`` is its label."""
    return isinstance(value, dict) and KEY in value and value.get("kind") not in _OWN_NAME


def unlabelled(value: Json) -> Json:
    """What a value stands for."""
    if not is_labelled(value):
        return value
    return {key: of for key, of in value.items() if key != KEY}
