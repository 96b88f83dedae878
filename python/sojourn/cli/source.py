"""Scenarios that the command line is given."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from sojourn.errors import ScenarioError
from sojourn.scenario import Document, Scenario, apply_override, load, read

STANDARD_INPUT = "-"


def scenario_of(file: Path, overrides: Iterable[str], seed: int | None = None) -> Scenario:
    """The scenario of a file, or with ``-`` of standard input."""
    return load(_source(file), overrides, seed)


def document_of(file: Path, overrides: Iterable[str]) -> Document:
    """The same as it is written, not validated."""
    document = read(_source(file))
    for override in overrides:
        apply_override(document, override)
    return document


def _source(file: Path) -> Path | str:
    """The file, or the text of standard input."""
    if str(file) != STANDARD_INPUT:
        return file
    try:
        return f"{sys.stdin.buffer.read().decode()}\n"
    except UnicodeDecodeError:
        raise ScenarioError("standard input: is not text in UTF-8") from None
