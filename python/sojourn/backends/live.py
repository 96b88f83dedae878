"""The kernel of the machine: real connections over the emulated network, in real time.

Two runs of one scenario differ as the kernel does: its host, kernel and repetition tell a run.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from sojourn import _internal
from sojourn.backends.outside import refuse
from sojourn.engine import Progress
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.result import Result
from sojourn.scenario import Document, Scenario, expanded_flows, validated


def runs_of(scenario: Scenario, count: int) -> list[Scenario]:
    """The same scenario so many times."""
    return [scenario] * count


def run(scenario: Scenario, progress: Progress | None = None, repetition: int = 0) -> Result:
    """Runs a scenario on the kernel; the result's ``origin`` says how far it can be trusted.

    Raises:
        ScenarioError: if it asks for what the kernel or the machine does not have.

    """
    refuse(scenario)
    data, timing, quality = _run(scenario.canonical, progress)
    origin = {**key(repetition), "quality": quality}
    return Result(scenario, data, timing, origin=origin)


def run_command(scenario: Scenario, command: Sequence[str]) -> tuple[Result | None, int]:
    """Runs a command whose traffic to the address ``SOJOURN_RECEIVER`` goes through the scenario's
    network: a result with one flow per connection, if there were any, and its exit status.

    Raises:
        ScenarioError: if the machine does not allow it, or the command cannot be run.

    """
    began = time.perf_counter()
    outcome = _internal.run_command(json.dumps(scenario.canonical), list(command))
    wall = time.perf_counter() - began
    status, labels = int(outcome.pop("status")), outcome.pop("labels")
    if not labels:
        return None, status
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    quality = json.loads(outcome.pop("quality"))
    network["paths"] = network["paths"][:1] * len(labels)
    seen = _of_connections(scenario, labels, totals["simulated_seconds"])
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    data = RunData(seen.canonical, outcome, network)
    return Result(seen, data, timing, origin={**key(0), "quality": quality}), status


def _of_connections(scenario: Scenario, labels: Sequence[str], seconds: float) -> Scenario:
    """The scenario that a command has made of it: one flow like the first per connection."""
    first = {**scenario.canonical["flows"][0], "count": 1, "start": "0 s"}
    first.pop("stop", None)
    flows = [{**first, "label": label} for label in labels]
    changed = {"flows": flows, "duration": f"{seconds:.6f} s", "warmup": "0 s"}
    canonical = {**scenario.canonical, **changed}
    return Scenario({**scenario.document, **changed}, canonical)


def key(repetition: int = 0) -> dict[str, Any]:
    """What tells a run from others of the same scenario."""
    host, kernel = platform.node(), platform.release()
    return {"backend": "live", "host": host, "kernel": kernel, "repetition": repetition}


def _run(
    canonical: Document, progress: Progress | None
) -> tuple[RunData, dict[str, float], dict[str, Any]]:
    began = time.perf_counter()
    outcome = _internal.run_live(json.dumps(canonical), progress)
    wall = time.perf_counter() - began
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    quality = json.loads(outcome.pop("quality"))
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    data = RunData(canonical, outcome, network, _alone(canonical))
    return data, timing, quality


def _alone(canonical: Document) -> Alone:
    """Runs some flows by themselves over the same network."""

    @cache
    def run(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
        every = expanded_flows(canonical)
        apart = validated({**canonical, "flows": [every[place] for place in flows]})
        return _run(apart.canonical, None)[0], range(len(flows))

    return run
