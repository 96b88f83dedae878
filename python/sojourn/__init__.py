"""Sojourn: a congestion-control laboratory.

>>> import sojourn
>>> result = sojourn.run("experiments/ccperf/cubic-friendliness.toml")
>>> result.flows, result.links, result.net, result.series, result.plot()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.errors import ScenarioError, SojournError

if TYPE_CHECKING:
    from sojourn.engine import run
    from sojourn.result import Result
    from sojourn.scenario import Scenario, load

__all__ = ["Result", "Scenario", "ScenarioError", "SojournError", "load", "run"]
_HOMES = {
    "Result": "sojourn.result",
    "Scenario": "sojourn.scenario",
    "load": "sojourn.scenario",
    "run": "sojourn.engine",
}


def __getattr__(name: str) -> Any:
    """Imports on first use: the command line must start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sojourn' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
