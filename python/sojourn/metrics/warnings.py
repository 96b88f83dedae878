"""What a reader of a run's numbers must know first: which flows starved, did not settle, timed out
or were limited by something other than the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.convergence import unsettled
from sojourn.metrics.convergence_of_fairness import convergence_time_jain
from sojourn.metrics.flow_view import LIMITED
from sojourn.metrics.registry import Scope
from sojourn.metrics.samples import RunData
from sojourn.metrics.transfer_view import FAILED, LIVE
from sojourn.numbers import number

if TYPE_CHECKING:
    from sojourn.measured import Measured

Severity = Literal["error", "warning", "note"]
_ORDER: tuple[Severity, ...] = ("error", "warning", "note")
#: A flow starves below this share of what an even division of its bottleneck would give it.
STARVED = 0.05
#: More unfinished transfers than this share may change the quantiles beyond it.
UNFINISHED = 0.001


class RunWarning(NamedTuple):
    """One thing to know about one flow, link or the network."""

    severity: Severity
    scope: Scope
    #: As in the tables of metrics, as a text; empty for the network.
    id: str
    #: What it is, a colon, and its numbers.
    text: str


Rule = Callable[[RunData], Iterator[RunWarning]]


def warnings_of(result: Measured) -> list[RunWarning]:
    """All warnings about a run, the gravest first."""
    found = [warning for rule in RULES for warning in rule(result.data)]
    return sorted(found, key=lambda warning: _ORDER.index(warning.severity))


def brief(warnings: Sequence[RunWarning], most: int = 4) -> list[RunWarning]:
    """The same with what several members have in common told once, without its numbers."""
    alike: dict[tuple[Severity, Scope, str], list[RunWarning]] = {}
    for warning in warnings:
        kind = warning.text.partition(":")[0]
        alike.setdefault((warning.severity, warning.scope, kind), []).append(warning)
    told = []
    for (severity, scope, kind), members in alike.items():
        if len(members) == 1:
            told += members
            continue
        more = f" and {len(members) - most} more" if len(members) > most else ""
        ids = ", ".join(member.id for member in members[:most]) + more
        told.append(RunWarning(severity, scope, ids, kind))
    return told


def _flows(
    severity: Severity,
    which: NDArray[np.bool_],
    text: str,
    *values: Values,
) -> Iterator[RunWarning]:
    """A warning for each flow of ``which``; ``text`` takes the flow's values."""
    for flow in np.flatnonzero(which):
        numbers = (number(float(value[flow])) for value in values)
        yield RunWarning(severity, "flow", str(flow), text.format(*numbers))


def _silent(run: RunData) -> Iterator[RunWarning]:
    view = run.flow
    nothing = (view.active_time > 0) & (view.total("delivered_bytes") == 0)
    yield from _flows("error", nothing, "delivered nothing: in {} s", view.active_time)


def _starved(run: RunData) -> Iterator[RunWarning]:
    view = run.flow
    share = ratio(view.mean_rate("delivered_bytes") * 1e6, view.even_share)
    shared = view.even_share < view.bottleneck_rate
    which = view.network_limited & shared & (share > 0) & (share < STARVED)
    text = "starved: {} Mbit/s, {} % of an even division of its bottleneck"
    yield from _flows("warning", which, text, view.mean_rate("delivered_bytes"), 100 * share)


def _timeouts(run: RunData) -> Iterator[RunWarning]:
    rtos = run.flow.total("rtos")
    yield from _flows("warning", rtos > 0, "retransmission timeouts: {}", rtos)


def _incomplete(run: RunData) -> Iterator[RunWarning]:
    view = run.flow
    open_still = view.bounded & view.windowed & np.isnan(view.table["completed_at"].astype(float))
    yield from _flows("warning", open_still, "transfer incomplete: when the flow stopped")


def _limited(run: RunData) -> Iterator[RunWarning]:
    view = run.flow
    shares = {
        "application": view.application_limited,
        "receiver": view.limited_by("receiver"),
        "send buffer": view.limited_by("send_buffer"),
    }
    for limit, share in shares.items():
        text = f"limited by the {limit}: for {{}} % of its time"
        yield from _flows("note", view.windowed & (share > LIMITED), text, 100 * share)


def _unsettled(run: RunData) -> Iterator[RunWarning]:
    text = "never converged: in the end its cwnd, over 30 s, is not within 20 % of its mean"
    yield from _flows("note", unsettled(run), text)


def _unfair(run: RunData) -> Iterator[RunWarning]:
    alike = run.flow.count > 1 and run.flow.network_limited.all()
    if alike and np.isnan(convergence_time_jain(run)):
        text = "never converged: Jain's index of the bytes since the last entry stays below 0.95"
        yield RunWarning("note", "net", "", text)


def _failed(run: RunData) -> Iterator[RunWarning]:
    failed, count = run.transfer.counts((FAILED,)), run.transfer.counts()
    text = "failed: {:,.0f} of {:,.0f} transfers"
    yield from _transfers(run, failed > 0, text, failed, count)


def _unfinished(run: RunData) -> Iterator[RunWarning]:
    unfinished, count = run.transfer.counts((LIVE, FAILED)), run.transfer.counts()
    share = ratio(unfinished, count)
    text = (
        "unfinished: {:,.0f} of {:,.0f} transfers ({:.2g} %), which count with their age; with an "
        "earlier stop of the arrivals more of them end before the run does"
    )
    yield from _transfers(run, share > UNFINISHED, text, unfinished, count, 100 * share)


def _transfers(
    run: RunData, which: NDArray[np.bool_], text: str, *values: Values
) -> Iterator[RunWarning]:
    """A warning for each label of ``which``; ``text`` takes its values."""
    for place, member in enumerate(run.transfer.members):
        if which[place] and member.sizes is None:
            told = text.format(*(float(value[place]) for value in values))
            yield RunWarning("warning", "transfer", member.id, told)


#: In the order in which they are told.
RULES: tuple[Rule, ...] = (
    _silent,
    _starved,
    _timeouts,
    _incomplete,
    _limited,
    _unsettled,
    _unfair,
    _failed,
    _unfinished,
)
