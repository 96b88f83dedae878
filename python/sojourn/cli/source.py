"""Scenarios that the command line is given."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from sojourn.errors import ScenarioError
from sojourn.scenario import Scenario, load

STANDARD_INPUT = "-"


def scenario_of(file: Path, overrides: Iterable[str], seed: int | None = None) -> Scenario:
    """The scenario of a file, or with ``-`` of standard input."""
    if str(file) != STANDARD_INPUT:
        return load(file, overrides, seed)
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise ScenarioError("standard input: is not text in UTF-8") from None
    return load(f"{text}\n", overrides, seed)
