"""Members of the open kinds of the core: congestion controls, queues, traffic, topologies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sojourn import _internal

Kind = Literal["ccas", "queues", "traffic", "topologies"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Parameter:
    """A key of a member's table."""

    name: str
    #: The kind of quantity ("time", "rate"), of value ("number"), or the names to choose from.
    type: str
    default: Any
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


def members(kind: Kind) -> list[Member]:
    """The members of a kind in the order of their registry."""
    listed = json.loads(_internal.catalogue())[kind]
    return [
        Member(**{**entry, "parameters": [Parameter(**p) for p in entry["parameters"]]})
        for entry in listed
    ]
