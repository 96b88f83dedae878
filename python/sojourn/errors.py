"""The two errors, bad input (exit status 2 of the command line) and failure (1), and a warning."""

from __future__ import annotations

from sojourn._internal import ScenarioError

__all__ = ["ScenarioError", "ScenarioWarning", "SojournError"]


class SojournError(Exception):
    """A failure that is not the input's fault."""


class ScenarioWarning(UserWarning):
    """A scenario that can be run, and that is seldom meant."""
