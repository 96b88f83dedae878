"""What a replay comes to: our member and the kernel's source in one run, or each in its own."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sojourn.engine import simulate
from sojourn.errors import RunError, ScenarioError
from sojourn.executors import processes
from sojourn.external import inside
from sojourn.measured import Measured
from sojourn.scenario import Document, Scenario, validated

#: Of a flow: its name, the metric's, and the value.
Value = tuple[str, str, float]


def opened(
    ours: Document, theirs: Document, place: Sequence[str | int]
) -> tuple[int, int, tuple[int, float, str] | None]:
    """Open loop: the number of comparisons and of those that differ; of the first difference the
    comparison's number, the time in seconds and what each did. The canonical scenarios differ at
    ``place``.

    Raises:
        ScenarioError: if the source is not that of the scenario any more.
        RunError: if it ends the run.

    """
    validated(theirs)
    pair = {"kind": "replay", "ours": _at(ours, place), "theirs": _at(theirs, place)}
    both = copy.deepcopy(ours)
    _at(both, place[:-1])[place[-1]] = pair
    try:
        return processes.call(inside.replay, json.dumps(both))
    except ScenarioError as error:  # of a scenario that was accepted: the source did not begin
        raise RunError(str(error), 0.0) from None


def closed(scenarios: Sequence[Document], metrics: Sequence[str]) -> list[list[Value]]:
    """Closed loop: these metrics of the flows of each run, where they are defined.

    Raises:
        RunError: if a run fails.

    """
    return [list(_measured(scenario, metrics)) for scenario in scenarios]


def _measured(scenario: Document, metrics: Sequence[str]) -> Iterator[Value]:
    flows = Measured(Scenario(scenario, scenario), *simulate(scenario)).flows
    for row in flows.to_dicts():
        named = ((metric, row[metric]) for metric in metrics)
        yield from ((str(row["id"]), metric, float(v)) for metric, v in named if v is not None)


def _at(document: Any, place: Sequence[str | int]) -> Any:
    for key in place:
        document = document[key]
    return {"kind": document} if isinstance(document, str) else document
