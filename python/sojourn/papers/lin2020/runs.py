"""From a file of ``experiments/lin2020/`` to the runs of a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sojourn import data
from sojourn.papers.paper import Case, Outcome, Request
from sojourn.quantity import number
from sojourn.scenario import Document, apply_override, read, validated
from sojourn.sweeps.expand import plan

#: Printed lengths (s) of the set-ups whose files shorten them, by name.
PRINTED_DURATION = {
    "lin2020-lan-printed": 600.0,
    "lin2020-lan-inferred": 600.0,
    "lin2020-wan-1-printed": 600.0,
    "lin2020-wan-1-inferred": 600.0,
    "lin2020-wan-2-printed": 600.0,
    "lin2020-wan-2-inferred": 600.0,
}
#: What --quick leaves of a run, s.
_QUICK = 60.0
Measure = Callable[[Outcome], float | None]


def scenario(name: str) -> Document:
    """A set-up of the paper, one file each; it says how many replications it takes."""
    return read(data.path(f"experiments/lin2020/{name}.toml"))


def replications(document: Document, request: Request) -> Sequence[tuple[Case, ...]]:
    """Its replications, of the printed length with ``--full``, one of a minute with ``--quick``;
    overrides applied.
    """
    duration = number(document["duration"])
    if request.full:
        duration = PRINTED_DURATION.get(document["name"], duration)
    if request.quick:
        duration = min(duration, _QUICK)
        document["sweep"]["replications"] = 1
    document["duration"] = f"{duration:g} s"
    for override in request.overrides:
        apply_override(document, override)
    return [(Case.of(point.canonical),) for point in plan(validated(document))]


def of_flow(metric: str, outcome: Outcome, flow: int = 0) -> float | None:
    """A metric of one flow."""
    value: float | None = outcome["flows"][flow]["metrics"][metric]
    return value
