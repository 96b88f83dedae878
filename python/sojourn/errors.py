"""The two errors: bad input (exit status 2 of the command line) and failure (1)."""

from __future__ import annotations

from sojourn._internal import ScenarioError

__all__ = ["ScenarioError", "SojournError"]


class SojournError(Exception):
    """A failure that is not the input's fault."""
