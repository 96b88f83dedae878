"""From a file of ``experiments/lin2020/`` to the runs of a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sojourn import data
from sojourn.campaign.cases import Case, Outcome, Sampled
from sojourn.quantity import number
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, apply_override, read, validated
from sojourn.sweeps.expand import plan
from sojourn_reproductions.lin2020 import controls

#: What --quick leaves of a run, s.
_QUICK = 60.0
Measure = Callable[[Outcome], float | None]
Runs = Sequence[tuple[Case, ...]]


def scenario(name: str, *rows: str, second: str = controls.PACED) -> Document:
    """A set-up of the paper, one file each, with the controls of these rows in its flows, where
    BBR's ``second`` reading is called so. The file says how many replications it takes.
    """
    document = read(data.path(f"experiments/lin2020/{name}.toml"))
    for index, row in enumerate(rows):
        document["flows"][index] |= controls.flow(row, second)
    return document


def replications(document: Document, request: Request, printed: float | None = None) -> Runs:
    """Its replications, ``printed`` seconds long with ``--full``, one of a minute with ``--quick``;
    overrides applied.
    """
    duration = number(document["duration"])
    if request.full:
        duration = printed or duration
    if request.quick:
        duration = min(duration, _QUICK)
        document["sweep"]["replications"] = 1
    document["duration"] = f"{duration:g} s"
    for override in request.overrides:
        apply_override(document, override)
    return [(Case.of(point.canonical),) for point in plan(validated(document))]


def sampled(document: Document, request: Request, keeps: tuple[str, ...]) -> Sampled:
    """The first replication, of which these columns of the flows' samples are kept."""
    [case] = replications(document, request)[0]
    return Sampled.of(case.canonical, keeps=keeps)


def of_flow(metric: str, outcome: Outcome, flow: int = 0) -> float | None:
    """A metric of one flow."""
    value: float | None = outcome["flows"][flow]["metrics"][metric]
    return value


def of_link(metric: str, outcome: Outcome) -> float | None:
    """A metric of the bottleneck."""
    value: float | None = outcome["links"][0]["metrics"][metric]
    return value
