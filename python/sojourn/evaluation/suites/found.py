"""Finds suites in the installed packages."""

from __future__ import annotations

from sojourn import installed
from sojourn.evaluation.suites.experiment import Suite

#: The suite of ``sojourn evaluate``.
DEFAULT = "ccperf"


def suite(name: str) -> Suite:
    """The suite called ``name``.

    Raises:
        ScenarioError: if there is none, with the nearest name.
        SojournError: if the package that has it cannot be imported.

    """
    return installed.load(installed.SUITES, name, Suite)
