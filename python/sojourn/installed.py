"""What installed packages bring: reproductions of published evaluations, and suites of experiments.

A package names each in its entry points, in the group of its kind: the name, and the module that
has the object.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, TypeVar

from sojourn.errors import ScenarioError, SojournError
from sojourn.names import unknown

#: The groups: of :class:`sojourn.reproduction.paper.Paper`, and of
#: :class:`sojourn.evaluation.suites.experiment.Suite`.
REPRODUCTIONS = "sojourn.reproductions"
SUITES = "sojourn.suites"


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Kind = TypeVar("Kind", bound=_Named)


@cache
def points(group: str) -> dict[str, EntryPoint]:
    """Those of a group by their names, in order."""
    return {point.name: point for point in sorted(entry_points(group=group))}


def load(group: str, name: str, kind: type[Kind]) -> Kind:
    """What a group calls ``name``, which is to be of that class and to call itself so.

    Raises:
        ScenarioError: if there is none, with the nearest name.
        SojournError: if the package that has it cannot be imported, or has something else there.

    """
    called = kind.__name__.lower()
    found = points(group)
    if name not in found:
        raise ScenarioError(unknown(called, name, found))
    point = found[name]
    try:
        made = point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.module
        why = f"{type(error).__name__}: {error}"
        raise SojournError(f"{name}: {point.value} of {package} cannot be loaded: {why}") from None
    if not isinstance(made, kind) or made.name != name:
        what = f"the {called} {made.name}" if isinstance(made, kind) else type(made).__name__
        wanted = f"{group} wants a {kind.__name__} called {name}"
        raise SojournError(f"{name}: {point.value} is {what}; {wanted}")
    return made


@cache
def folder(name: str) -> Path | None:
    """The directory of a reproduction's module, not imported; ``None`` if there is none."""
    point = points(REPRODUCTIONS).get(name)
    spec = find_spec(point.module) if point else None
    return Path(spec.origin).resolve().parent if spec and spec.origin else None
