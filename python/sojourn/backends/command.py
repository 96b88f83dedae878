"""Any program's traffic over the emulated network, and what of it went past the bottleneck."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from sojourn import _internal
from sojourn.backends.crossed import WORTH_TELLING, Crossed, amount, crossed, slowest
from sojourn.backends.live import key
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.origin import Quality
from sojourn.scenario import Scenario


@dataclass(frozen=True)
class Commanded:
    """A command's run."""

    #: One flow for the data of each side of each connection, if there were any.
    result: Measured | None
    #: The command's exit status.
    status: int
    #: Whether what comes back goes the scenario's forward way.
    download: bool
    #: Bytes that programs sent each other past the scenario's network.
    loopback: int
    seconds: float
    #: bit/s of the slowest link; infinite if none has a rate.
    rate: float


def run(scenario: Scenario, command: Sequence[str], *, download: bool = False) -> Commanded:
    """Runs a command whose traffic to the address ``SOJOURN_RECEIVER`` goes through the scenario's
    network, forward, or with ``download`` the way back.

    Raises:
        ScenarioError: if the machine does not allow it, or the command cannot be run.

    """
    began = time.perf_counter()
    outcome = _internal.run_command(json.dumps(scenario.canonical), list(command), download)
    wall = time.perf_counter() - began
    status, labels = int(outcome.pop("status")), outcome.pop("labels")
    loopback = int(outcome.pop("loopback_bytes"))
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    quality: Quality = json.loads(outcome.pop("quality"))
    quality["loopback_bytes"] = loopback
    seconds = float(totals["simulated_seconds"])
    rate = slowest(network["links"])
    result = None
    if labels:
        seen = _of_connections(scenario, labels, seconds)
        timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
        data = RunData(seen.canonical, outcome, network)
        result = Measured(seen, data, timing, origin={**key(0), "quality": quality})
    return Commanded(result, status, download, loopback, seconds, rate)


def missed(done: Commanded) -> Iterator[str]:
    """What to know of traffic that no bottleneck has slowed down, and what to do about it."""
    found = Crossed() if done.result is None else crossed(done.result.data)
    least = WORTH_TELLING * (found.over + found.past + done.loopback)
    if done.loopback > least:
        yield (
            f"{amount(done.loopback, done.seconds, done.rate)} went over the namespace's loopback, "
            "which has no bottleneck, and is in no metric; let the programs connect to the address "
            "in SOJOURN_RECEIVER in the place of localhost"
        )
    if found.past > least and done.rate < inf:
        went, remedy = (
            ("was sent to", "without --download the bottleneck lies there")
            if done.download
            else ("came back from", "--download puts the bottleneck there")
        )
        yield (
            f"{amount(found.past, found.seconds, done.rate)} {went} SOJOURN_RECEIVER on the way "
            f"that has no bottleneck; {remedy}"
        )


def _of_connections(scenario: Scenario, labels: Sequence[str], seconds: float) -> Scenario:
    """The scenario that a command has made of it: one flow like the first for each label."""
    first = {**scenario.canonical["flows"][0], "count": 1, "start": "0 s"}
    first.pop("stop", None)
    flows = [{**first, "label": label} for label in labels]
    changed = {"flows": flows, "duration": f"{seconds:.6f} s", "warmup": "0 s"}
    canonical = {**scenario.canonical, **changed}
    return Scenario({**scenario.document, **changed}, canonical)
