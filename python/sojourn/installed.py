"""Reproductions of published evaluations, as installed packages bring them.

A package names each in its entry points, in the group ``sojourn.reproductions``: the name, and the
module that has the :class:`sojourn.reproduction.paper.Paper`.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

GROUP = "sojourn.reproductions"


@cache
def reproductions() -> dict[str, EntryPoint]:
    """Each by its name, in order."""
    return {point.name: point for point in sorted(entry_points(group=GROUP))}


@cache
def folder(name: str) -> Path | None:
    """The directory of a reproduction's module, not imported; ``None`` if there is none."""
    point = reproductions().get(name)
    spec = find_spec(point.module) if point else None
    return Path(spec.origin).resolve().parent if spec and spec.origin else None
