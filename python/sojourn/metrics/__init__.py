"""Metrics: one file per family, one registration per metric. See ``sojourn list metrics``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib import import_module

import numpy as np

from sojourn.metrics.columns import Values
from sojourn.metrics.registry import Metric, Scope, metric, metrics
from sojourn.metrics.samples import RunData

__all__ = [
    "Metric",
    "RunData",
    "Scope",
    "Values",
    "compute",
    "metric",
    "metrics",
    "unknown",
    "values",
]

#: The files of the metrics, in the order of the tables.
FAMILIES = (
    "throughput",
    "window",
    "delay",
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
    with np.errstate(over="ignore"):
        return np.atleast_1d(np.asarray(metric.compute(run), dtype=float))


def unknown(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that are no metric of any scope."""
    known = {m.name for m in metrics()}
    return [name for name in names if name not in known]
