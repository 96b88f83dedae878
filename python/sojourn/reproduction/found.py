"""Finds reproductions in the installed packages."""

from __future__ import annotations

from sojourn.errors import ScenarioError, SojournError
from sojourn.installed import GROUP, reproductions
from sojourn.names import unknown
from sojourn.reproduction.paper import Paper


def paper(name: str) -> Paper:
    """The reproduction called ``name``.

    Raises:
        ScenarioError: if there is none, with the nearest name.
        SojournError: if the package that has it cannot be imported.

    """
    found = reproductions()
    if name not in found:
        raise ScenarioError(unknown("paper", name, found))
    point = found[name]
    try:
        made = point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.module
        why = f"{type(error).__name__}: {error}"
        raise SojournError(f"{name}: {point.value} of {package} cannot be loaded: {why}") from None
    if not isinstance(made, Paper) or made.name != name:
        what = f"the paper {made.name}" if isinstance(made, Paper) else type(made).__name__
        raise SojournError(f"{name}: {point.value} is {what}; {GROUP} wants a Paper called {name}")
    return made


def papers() -> list[Paper]:
    """All of them.

    Raises:
        SojournError: as :func:`paper`.

    """
    return [paper(name) for name in reproductions()]
