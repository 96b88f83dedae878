"""What a metric declares, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal, TypeVar, get_args

from numpy.typing import ArrayLike

from sojourn.metrics.samples import RunData
from sojourn.names import unknown

Scope = Literal["flow", "link", "net", "group", "transfer"]
Better = Literal["higher", "lower"] | None
Compute = Callable[[RunData], ArrayLike]
_Own = TypeVar("_Own", bound=Compute)

LAYERS = {"l1": "link", "l2": "queue discipline", "l4": "transport", "l7": "application"}


@dataclass(frozen=True)
class Metric:
    """One metric: its name, what it means, and how to compute it.

    ``compute`` returns one value per flow or link (a vector), or one value for the network;
    NaN means undefined.
    """

    name: str
    scope: Scope
    quantity: str
    unit: str
    aggregator: str
    sampling: str
    empty: str
    compute: Compute
    summary: str
    #: Which value is the better one of several, where that can be said.
    better: Better = None
    #: Whether it needs further runs, so that it is computed only if named.
    on_request: bool = False
    #: What its values lie between, where it is defined.
    low: float = 0.0
    high: float = inf

    @property
    def layer(self) -> str:
        """The protocol layer, from the name's last part."""
        return LAYERS.get(self.name.rsplit("_", 1)[-1], "transport")


_METRICS: dict[tuple[str, str], Metric] = {}


def metric(
    scope: Scope,
    name: str,
    *,
    unit: str,
    quantity: str = "",
    aggregator: str = "",
    sampling: str = "interval",
    empty: str = "null",
    better: Better = None,
    on_request: bool = False,
    low: float = 0.0,
    high: float = inf,
) -> Callable[[_Own], _Own]:
    """Registers a function as the metric ``name``; its docstring is the summary.

    The function is given a :class:`RunData` and returns one value per flow, link, group or
    member of the transfers, or one for the network; NaN means undefined, and all others lie between
    ``low`` and ``high``. A metric from outside the
    package may be registered again, as when a notebook's cell is run twice.
    """
    if scope not in get_args(Scope):
        raise ValueError(unknown("scope", scope, get_args(Scope)))

    def register(compute: _Own) -> _Own:
        known = _METRICS.get((scope, name))
        if known and known.compute.__module__.startswith("sojourn."):
            raise ValueError(f"metric {name} of {scope} is registered already")
        summary = " ".join((compute.__doc__ or "").split())
        declared = (quantity, unit, aggregator, sampling, empty, compute, summary)
        _METRICS[scope, name] = Metric(name, scope, *declared, better, on_request, low, high)
        return compute

    return register


def metrics(scope: Scope | None = None) -> Iterator[Metric]:
    """All metrics, or those of one scope, in the order of their registration."""
    return (m for m in _METRICS.values() if scope in (None, m.scope))
