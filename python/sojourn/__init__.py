"""Sojourn: a congestion-control laboratory.

>>> import sojourn
>>> result = sojourn.run("experiments/ccperf/cubic-friendliness.toml")
>>> result.flows, result.links, result.net, result.series, result.plot()
>>> sojourn.sweep("grid.toml").summary
>>> sojourn.compare("results/new", "results/old").table
>>> sojourn.open("results/cubic-friendliness")
>>> sojourn.plot("results/buffers-sweep", "share(bbr)", x="topology.bottleneck.queue.limit")
>>> class Mine(sojourn.cca.Control): ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.errors import ScenarioError, SojournError

if TYPE_CHECKING:
    from sojourn import cca
    from sojourn.evaluation.compare import compare
    from sojourn.metrics import metric
    from sojourn.opened import Sweep, sweep
    from sojourn.opened import open_directory as open  # noqa: A004
    from sojourn.report.plot import plot
    from sojourn.result import Result, run
    from sojourn.scenario import Scenario, load

__all__ = [
    "Result",
    "Scenario",
    "ScenarioError",
    "SojournError",
    "Sweep",
    "cca",
    "compare",
    "load",
    "metric",
    "open",
    "plot",
    "run",
    "sweep",
]
#: Where each is to be found: a module, and a name in it unless it is that module.
_HOMES = {
    "Result": ("sojourn.result", "Result"),
    "Scenario": ("sojourn.scenario", "Scenario"),
    "Sweep": ("sojourn.opened", "Sweep"),
    "cca": ("sojourn.cca", ""),
    "compare": ("sojourn.evaluation.compare", "compare"),
    "load": ("sojourn.scenario", "load"),
    "metric": ("sojourn.metrics", "metric"),
    "open": ("sojourn.opened", "open_directory"),
    "plot": ("sojourn.report.plot", "plot"),
    "run": ("sojourn.result", "run"),
    "sweep": ("sojourn.opened", "sweep"),
}


def __getattr__(name: str) -> Any:
    """Imports on first use: the command line must start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sojourn' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    home = import_module(module)
    value = getattr(home, attribute) if attribute else home
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
