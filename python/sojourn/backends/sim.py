"""The simulator. Its runs differ by seed."""

from __future__ import annotations

from sojourn import engine
from sojourn.engine import Progress
from sojourn.measured import Measured
from sojourn.scenario import Scenario, validated


def runs_of(scenario: Scenario, count: int) -> list[Scenario]:
    """The scenario with its seed, and those that follow."""
    seeds = range(scenario.seed, scenario.seed + count)
    return [validated({**scenario.document, "seed": seed}) for seed in seeds]


def run(scenario: Scenario, progress: Progress | None = None, repetition: int = 0) -> Measured:
    """Simulates a scenario; every repetition gives the same."""
    return engine.measure(scenario, progress)


def key(repetition: int = 0) -> None:
    """A simulated run is told by its scenario."""
