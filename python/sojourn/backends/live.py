"""The kernel of the machine: real connections over the emulated network, in real time.

Two runs of one scenario differ as the kernel does: its host, kernel and repetition tell a run.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sojourn import _internal
from sojourn.backends import lacking
from sojourn.backends.external import refuse
from sojourn.engine import Progress
from sojourn.errors import RunError
from sojourn.executors.threads import go_on
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.origin import Origin, Quality
from sojourn.record import Add, recorded
from sojourn.scenario import Document, Scenario, expanded_flows, validated

name = "live"
#: Each would take processors from the others, and none could be trusted.
side_by_side = False


def runs_of(scenario: Scenario, count: int) -> list[Scenario]:
    """The same scenario so many times."""
    return [scenario] * count


def check(canonical: Document) -> None:
    """Begins a run and leaves it: what the kernel or the machine lacks is refused at once.

    Raises:
        ScenarioError: naming the field, and what the kernel has.
        LackError: naming what the machine lacks.

    """
    refuse(canonical)
    lacking.ask(name, canonical, _run)


def run(
    scenario: Scenario,
    progress: Progress | None = None,
    repetition: int = 0,
    spool: Path | None = None,
) -> Measured:
    """Runs a scenario on the kernel; the result's ``origin`` says how far it can be trusted.

    Raises:
        ScenarioError: if it asks for what the kernel or the machine does not have.

    """
    canonical = scenario.canonical
    refuse(canonical)
    made, record = recorded(canonical, spool, lambda add: _run(canonical, progress, add))
    data, timing, quality = made
    origin: Origin = {**key(repetition), "quality": quality}
    return Measured(scenario, data, timing, record, origin)


def measure(
    canonical: Document, progress: Progress | None = None, spool: Path | None = None
) -> tuple[RunData, dict[str, float]]:
    """Runs a canonical scenario on the kernel.

    Raises:
        RunError: if its numbers cannot be trusted, with the reasons.
        ScenarioError: if it asks for what the kernel or the machine does not have.

    """
    refuse(canonical)
    return _trusted(canonical, progress)


def key(repetition: int = 0) -> Origin:
    """What tells a run from others of the same scenario."""
    host, kernel = platform.node(), platform.release()
    return {"backend": "live", "host": host, "kernel": kernel, "repetition": repetition}


def _trusted(
    canonical: Document, progress: Progress | None = None
) -> tuple[RunData, dict[str, float]]:
    data, timing, quality = _run(canonical, progress)
    if not quality["valid"]:
        raise RunError(f"the run is invalid: {'; '.join(quality['reasons'])}")
    return data, timing


def _run(
    canonical: Document, progress: Progress | None, record: Add | None = None
) -> tuple[RunData, dict[str, float], Quality]:
    began = time.perf_counter()
    with lacking.told():
        outcome = _internal.run_live(json.dumps(canonical), progress or go_on, record)
    wall = time.perf_counter() - began
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    quality = json.loads(outcome.pop("quality"))
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    data = RunData(canonical, outcome, network, alone(canonical))
    return data, timing, quality


def alone(canonical: Document) -> Alone:
    """Runs some flows by themselves over the same network; raises as :func:`measure`."""

    @cache
    def run(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
        every = expanded_flows(canonical)
        those = [every[place] for place in flows]
        apart = validated({**canonical, "flows": those, "arrivals": []})
        return _trusted(apart.canonical)[0], range(len(flows))

    return run
