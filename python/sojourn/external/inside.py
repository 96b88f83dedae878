"""What a worker process does with controls from outside."""

from __future__ import annotations

from typing import Any

from sojourn import _internal, class_sources


def run(scenario: str, classes: dict[str, bytes], **heard: Any) -> dict[str, Any]:
    """Runs a scenario in JSON, some of whose controls are these classes."""
    class_sources.take(classes)
    return _internal.run(scenario, **heard)


def conform(kind: str, table: str, check: str, classes: dict[str, bytes]) -> float:
    """Measures a check of a control, a table in JSON."""
    class_sources.take(classes)
    return _internal.conform(kind, table, check)


def replay(scenario: str) -> tuple[int, int, tuple[int, float, str] | None]:
    """Runs a scenario in JSON, some of whose components are pairs that are compared."""
    return _internal.replay(scenario)
