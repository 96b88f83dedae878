"""Metrics: one file per family, one registration per metric. See ``sojourn list metrics``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib import import_module

import numpy as np

from sojourn.errors import ScenarioError
from sojourn.metrics.columns import Values
from sojourn.metrics.registry import Metric, Scope, metric, metrics
from sojourn.metrics.samples import RunData
from sojourn.names import unknown

__all__ = [
    "Metric",
    "RunData",
    "Scope",
    "Values",
    "checked",
    "compute",
    "metric",
    "metrics",
    "values",
]

#: The files of the metrics, in the order of the tables.
FAMILIES = (
    "throughput",
    "window",
    "delay",
    "reception",
    "utility",
    "recovery",
    "limits",
    "transfer",
    "messages",
    "convergence",
    "link",
    "air",
    "aggregate",
    "fairness",
    "convergence_of_fairness",
    "fairness_over_time",
    "responsiveness",
    "harm",
    "groups",
    "transfers",
)
for _family in FAMILIES:
    import_module(f"sojourn.metrics.{_family}")


def compute(
    run: RunData, scope: Scope, requested: Collection[str] | None = None
) -> dict[str, Values]:
    """The metrics of one scope by name, each a vector over the scope's members.

    ``None`` requests all but those that need further runs.
    """
    chosen = (
        m
        for m in metrics(scope)
        if (not m.on_request if requested is None else m.name in requested)
    )
    return {m.name: values(run, m) for m in chosen}


def values(run: RunData, metric: Metric) -> Values:
    """A metric of the members of its scope."""
    nobody = not (run.transfer.members if metric.scope == "transfer" else run.flow.count)
    if nobody and metric.scope in ("flow", "group", "transfer"):
        return np.empty(0)  # as in a scenario of arrivals alone, or without any
    with np.errstate(over="ignore"):
        return np.atleast_1d(np.asarray(metric.compute(run), dtype=float))


def checked(field: str, names: Iterable[str]) -> list[str]:
    """The names of metrics of any scope.

    Raises:
        ScenarioError: names the ``field``, and the nearest metric where there is none of a name.

    """
    wanted, known = list(names), [m.name for m in metrics()]
    for name in wanted:
        if name not in known:
            raise ScenarioError(
                f"{field}: {unknown('metric', name, known, 'sojourn list metrics')}"
            )
    return wanted
