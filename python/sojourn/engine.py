"""Running scenarios."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sojourn import _internal, class_sources, located
from sojourn.errors import RunError, ScenarioError
from sojourn.executors.threads import go_on
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.quantity import number
from sojourn.record import Add, recorded
from sojourn.scenario import Document, Scenario, expanded_flows, validated
from sojourn.spool import Spool, Take

Progress = Callable[[float], object]


def measure(
    scenario: Scenario, progress: Progress | None = None, spool: Path | None = None
) -> Measured:
    """Runs a loaded scenario by as many threads as there are cores.

    ``progress`` is told the share that is done, several times per second. Samples of long runs, and
    what the scenario's ``record`` asks for, go to temporary directories, below ``spool`` if given,
    that last as long as what is returned.
    """
    canonical, threads = scenario.canonical, os.cpu_count() or 1

    def run(add: Add | None) -> tuple[RunData, dict[str, float]]:
        return simulate(canonical, progress, add, threads=threads, spool=spool)

    (data, timing), record = recorded(canonical, spool, run)
    return Measured(scenario, data, timing, record)


def simulate(
    canonical: Document,
    progress: Progress | None = None,
    record: Add | None = None,
    *,
    threads: int = 1,
    spool: Path | None = None,
) -> tuple[RunData, dict[str, float]]:
    """Runs a canonical scenario; the GIL is released meanwhile. ``record`` is given what the
    scenario asks to be recorded; without it, nothing is. More ``threads`` help where a network
    falls apart into regions, as that of an overlay does; the result is the same. Tables that become
    long are on disk, below ``spool`` if given.
    """
    began, parts = time.perf_counter(), Spool(spool)
    outcome = _core(canonical, progress, record, threads, parts.add)
    wall = time.perf_counter() - began
    totals: Mapping[str, float] = outcome.pop("totals")
    network = json.loads(outcome.pop("network"))
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    return RunData(canonical, parts.whole(outcome), network, alone(canonical)), timing


def _core(
    canonical: Document, progress: Progress | None, record: Add | None, threads: int, take: Take
) -> dict[str, Any]:
    """The core's columns by table, without the rows that ``take`` was given, its totals and the
    network, as it gives them; in a process of its own if controls bring their code along.
    """
    text, outside = json.dumps(canonical), list(located.components(canonical))
    if not outside:
        return _internal.run(text, progress or go_on, record, threads, take)
    from sojourn.executors import processes  # they take longer to import than a short run takes
    from sojourn.external import inside

    classes = class_sources.pickled(str(table["digest"]) for table in outside)
    try:
        heard = {"progress": progress, "record": record, "tables": take}
        return processes.call(inside.run, text, classes, **heard)
    except ScenarioError as error:  # of a scenario that was accepted: its control did not begin
        raise RunError(str(error), 0.0) from None


def _arriving(canonical: Document, start: str) -> Document:
    """The arrivals, which begin then; nothing without any."""
    entries = [
        {**{key: value for key, value in entry.items() if key != "stop"}, "start": start}
        for entry in canonical.get("arrivals") or []
    ]
    return {"arrivals": entries} if entries else {}


def alone(canonical: Document) -> Alone:
    """Runs some flows by themselves over the same network, each choice of them once. The others
    are there, so that buffers in bdp and random draws are the same, but start as the run ends.
    """
    last = f"{round(number(canonical['duration']) * 1e9) - 1} ns"

    @cache
    def run(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
        declared = expanded_flows(canonical)
        for place, flow in enumerate(declared):
            if place not in flows:
                flow["start"] = last
                flow.pop("stop", None)
        apart = validated({**canonical, "flows": declared, **_arriving(canonical, last)})
        return simulate(apart.canonical)[0], flows

    return run
