"""The errors, bad input (exit status 2 of the command line) and failure (1), and a warning."""

from __future__ import annotations

from sojourn._internal import ScenarioError

__all__ = [
    "LackError",
    "LostError",
    "RunError",
    "ScenarioError",
    "ScenarioWarning",
    "SojournError",
    "refused",
]


class SojournError(Exception):
    """A failure that is not the input's fault."""


class RunError(SojournError):
    """A run that failed, at ``failed_at`` seconds of simulated time if that is known."""

    def __init__(self, message: str, failed_at: float | None = None) -> None:
        super().__init__(message)
        self.failed_at = failed_at


class LostError(RunError):
    """A run that was lost with the process that it was in, which may have been the machine's doing:
    another attempt may go well.
    """


class LackError(ScenarioError):
    """What a machine lacks for every run of a kind: such a run has not failed, and is to be made
    when the machine has it.
    """


class ScenarioWarning(UserWarning):
    """A scenario that can be run, and that is seldom meant."""


def refused(field: str, message: str) -> ScenarioError:
    """The error of a field, or of the whole if it is empty."""
    error = ScenarioError(f"{field}: {message}" if field else message)
    error.field, error.message = field, message
    return error
