"""Members of the open kinds of the core: congestion controls, queues, traffic and others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypedDict, get_args

from sojourn import _internal
from sojourn.json_types import Json

Kind = Literal["ccas", "queues", "traffic", "topologies", "transports", "nodes", "media"]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: What one member of each is called, and several.
CALLED: Mapping[str, tuple[str, str]] = {
    "ccas": ("congestion control", "congestion controls"),
    "queues": ("queue discipline", "queue disciplines"),
    "traffic": ("traffic model", "traffic models"),
    "topologies": ("topology", "topologies"),
    "transports": ("transport", "transports"),
    "nodes": ("kind of node", "nodes"),
    "media": ("shared medium", "shared media"),
}


def title(kind: str) -> str:
    """The heading over members of a kind, or over whatever else has its own word for it."""
    return CALLED.get(kind, (kind, kind))[1].capitalize()


@dataclass(frozen=True)
class Parameter:
    """A key of a member's table."""

    name: str
    #: The kind of quantity ("time", "rate"), of value ("number"), or the names to choose from.
    type: str
    default: Json
    description: str

    @property
    def written(self) -> str:
        """The default as a scenario file writes it; empty where there is none, and for tables."""
        if self.default is None or isinstance(self.default, dict):
            return ""
        return self.default if isinstance(self.default, str) else json.dumps(self.default)


@dataclass(frozen=True)
class Member:
    """What the core knows of a member."""

    name: str
    summary: str
    #: What it follows; ``None`` for what is our own.
    source: str | None
    #: The header of its source file: Markdown.
    documentation: str
    parameters: Sequence[Parameter]
    #: What it says of itself besides, such as whether a queue marks.
    declares: Mapping[str, object]


@cache
def members(kind: Kind, *, outside: bool = False) -> Sequence[Member]:
    """The members of a kind in the order of their registry; with ``outside`` also those that stand
    for what brings its code along.
    """
    listed = json.loads(_internal.catalogue(outside))[kind]
    return tuple(_member(entry) for entry in listed)


class _Key(TypedDict):
    name: str
    type: str
    default: Json
    description: str


class _Entry(TypedDict):
    """What all members have; what one declares is beside."""

    name: str
    summary: str
    source: str | None
    documentation: str
    parameters: list[_Key]


def _member(entry: _Entry) -> Member:
    return Member(
        entry["name"],
        entry["summary"],
        entry["source"],
        entry["documentation"],
        [Parameter(**key) for key in entry["parameters"]],
        {key: value for key, value in entry.items() if key not in _Entry.__annotations__},
    )
