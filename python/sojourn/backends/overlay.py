"""Overlay nodes as programs, over the links of their scenario, in real time.

Two runs of one scenario differ as the machine does: its host, kernel and repetition tell a run.
"""

from __future__ import annotations

import json
from pathlib import Path

from sojourn import _internal
from sojourn.backends import lacking, real_time
from sojourn.backends.external import refuse
from sojourn.engine import Progress
from sojourn.executors.threads import go_on
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.origin import Origin
from sojourn.record import Add, recorded
from sojourn.scenario import Document, Scenario

name = "overlay"
#: Each would take processors from the others, and none could be trusted.
side_by_side = False


def runs_of(scenario: Scenario, count: int) -> list[Scenario]:
    """The same scenario so many times."""
    return [scenario] * count


def check(canonical: Document) -> None:
    """Begins a run and leaves it: what cannot run by itself is refused at once.

    Raises:
        ScenarioError: naming the field, and the remedy.
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
    """Runs a scenario's nodes; the result's ``origin`` says how far it can be trusted.

    Raises:
        ScenarioError: if it asks for what nodes by themselves or the machine do not have.

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
    """Runs a canonical scenario's nodes.

    Raises:
        RunError: if its numbers cannot be trusted, with the reasons.
        ScenarioError: as :func:`run`.

    """
    refuse(canonical)
    return real_time.trusted(_run(canonical, progress))


def key(repetition: int = 0) -> Origin:
    """What tells a run from others of the same scenario."""
    return real_time.key(name, repetition)


def alone(canonical: Document) -> Alone:
    """Runs some flows by themselves over the same network; raises as :func:`measure`."""
    return real_time.alone(canonical, _run)


def _run(
    canonical: Document, progress: Progress | None = None, record: Add | None = None
) -> real_time.Made:
    def nodes() -> dict[str, object]:
        with lacking.told():
            return _internal.run_overlay(json.dumps(canonical), progress or go_on, record)

    return real_time.gathered(canonical, nodes, alone(canonical))
