"""The simulator. Its runs differ by seed."""

from __future__ import annotations

from pathlib import Path

from sojourn import engine
from sojourn.engine import Progress, alone
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.scenario import Document, Scenario, validated

__all__ = ["alone", "check", "key", "measure", "name", "run", "runs_of", "side_by_side"]

name = "sim"
side_by_side = True


def runs_of(scenario: Scenario, count: int) -> list[Scenario]:
    """The scenario with its seed, and those that follow."""
    seeds = range(scenario.seed, scenario.seed + count)
    return [validated({**scenario.document, "seed": seed}) for seed in seeds]


def check(canonical: Document) -> None:
    """A scenario that is valid can be simulated, as far as that can be told before."""


def run(
    scenario: Scenario,
    progress: Progress | None = None,
    repetition: int = 0,
    spool: Path | None = None,
) -> Measured:
    """Simulates a scenario by all cores; every repetition gives the same."""
    return engine.measure(scenario, progress, spool)


def measure(
    canonical: Document, progress: Progress | None = None, spool: Path | None = None
) -> tuple[RunData, dict[str, float]]:
    """Simulates a canonical scenario by one core."""
    return engine.simulate(canonical, progress)


def key(repetition: int = 0) -> None:
    """A simulated run is told by its scenario."""
