"""The compiled core. Private: use :mod:`sojourn`."""

from collections.abc import Callable
from typing import Any

__all__ = [
    "ScenarioError",
    "base_rtts",
    "catalogue",
    "engine_build",
    "quantity",
    "run",
    "schema",
    "toml_to_json",
    "validate",
]

class ScenarioError(ValueError):
    """Bad input: names the field, what was given and what is allowed."""

    #: Path of the field as the file writes it; empty where there is none.
    field: str
    #: What was given and what is allowed, without the field.
    message: str

def toml_to_json(text: str) -> str: ...
def validate(scenario: str) -> tuple[str, list[str]]: ...
def quantity(text: str) -> tuple[float, str] | None: ...
def base_rtts(scenario: str) -> list[float]: ...
def schema() -> str: ...
def catalogue() -> str: ...
def engine_build() -> str: ...
def run(
    scenario: str,
    progress: Callable[[float], object] | None = None,
    record: Callable[[str, dict[str, Any], list[str | None]], object] | None = None,
) -> dict[str, Any]: ...
