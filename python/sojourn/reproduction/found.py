"""Finds reproductions in the installed packages."""

from __future__ import annotations

from sojourn import installed
from sojourn.reproduction.paper import Paper


def paper(name: str) -> Paper:
    """The reproduction called ``name``.

    Raises:
        ScenarioError: if there is none, with the nearest name.
        SojournError: if the package that has it cannot be imported.

    """
    return installed.load(installed.REPRODUCTIONS, name, Paper)


def papers() -> list[Paper]:
    """All of them.

    Raises:
        SojournError: as :func:`paper`.

    """
    return [paper(name) for name in installed.points(installed.REPRODUCTIONS)]
