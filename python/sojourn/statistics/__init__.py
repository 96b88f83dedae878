"""What replications tell: intervals, comparisons of many pairs at once, how many runs it takes.

Everything rests on scipy and statsmodels, parts of which take longer to import than most commands
to run, and are imported by the functions that need them; random draws within are fixed, so that the
same values give the same answer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.statistics.intervals import mean_interval, quantile_interval
    from sojourn.statistics.stopping import Until
    from sojourn.statistics.values import Interval
    from sojourn.statistics.verdicts import Finding, Pair, Verdict, judge, replications_needed

__all__ = [
    "Finding",
    "Interval",
    "Pair",
    "Until",
    "Verdict",
    "judge",
    "mean_interval",
    "quantile_interval",
    "replications_needed",
]
_HOMES = {
    "intervals": ("mean_interval", "quantile_interval"),
    "stopping": ("Until",),
    "values": ("Interval",),
    "verdicts": ("Finding", "Pair", "Verdict", "judge", "replications_needed"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"sojourn.statistics.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'sojourn.statistics' has no attribute {name!r}")
