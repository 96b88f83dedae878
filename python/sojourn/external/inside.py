"""What a worker process does with controls from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sojourn import _internal, class_sources
from sojourn.executors import processes

if TYPE_CHECKING:
    from sojourn.record import Add
    from sojourn.spool import Take


def take(classes: Mapping[str, bytes]) -> None:
    """Makes the classes of a notebook known here, which runs code of theirs."""
    with processes.phase("loading the classes of the program"):
        class_sources.take(classes)


def run(
    scenario: str,
    classes: dict[str, bytes],
    progress: Callable[[float], object] | None = None,
    record: Add | None = None,
    tables: Take | None = None,
) -> dict[str, Any]:
    """Runs a scenario in JSON, some of whose controls are these classes: the core's outcome."""
    take(classes)
    return _internal.run(scenario, progress, record, tables=tables)


def conform(kind: str, table: str, check: str, classes: dict[str, bytes]) -> float:
    """Measures a check of a control, a table in JSON."""
    take(classes)
    return _internal.conform(kind, table, check)


def replay(scenario: str) -> tuple[int, int, tuple[int, float, str] | None]:
    """Runs a scenario in JSON, some of whose components are pairs that are compared."""
    return _internal.replay(scenario)
