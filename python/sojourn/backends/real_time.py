"""What backends in real time have in common: runs that are repetitions, each with a quality."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from sojourn.engine import Progress
from sojourn.errors import RunError
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.origin import Origin, Quality
from sojourn.scenario import Document, expanded_flows, validated

#: A run: what it measured, its timing, how far it can be trusted.
Made = tuple[RunData, dict[str, float], Quality]


def gathered(canonical: Document, run: Callable[[], dict[str, Any]], alone: Alone) -> Made:
    """What a run of the engine makes, which takes its time."""
    began = time.perf_counter()
    outcome = run()
    wall = time.perf_counter() - began
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    quality = json.loads(outcome.pop("quality"))
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    return RunData(canonical, outcome, network, alone), timing, quality


def trusted(made: Made) -> tuple[RunData, dict[str, float]]:
    """The same without its quality.

    Raises:
        RunError: if its numbers cannot be trusted, with the reasons.

    """
    data, timing, quality = made
    if not quality["valid"]:
        raise RunError(f"the run is invalid: {'; '.join(quality['reasons'])}")
    return data, timing


def key(backend: str, repetition: int) -> Origin:
    """What tells a run from others of the same scenario."""
    host, kernel = platform.node(), platform.release()
    return {"backend": backend, "host": host, "kernel": kernel, "repetition": repetition}


def alone(canonical: Document, made: Callable[[Document, Progress | None], Made]) -> Alone:
    """Runs some flows by themselves over the same network."""

    @cache
    def run(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
        every = expanded_flows(canonical)
        those = [every[place] for place in flows]
        apart = validated({**canonical, "flows": those, "arrivals": []})
        return trusted(made(apart.canonical, None))[0], range(len(flows))

    return run
