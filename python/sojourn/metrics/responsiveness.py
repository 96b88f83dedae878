"""How fast flows take up what a link has more to give."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.json_types import Fields, tables
from sojourn.metrics.columns import EPSILON, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData
from sojourn.quantity import number

#: The flows have taken up a rate when they deliver this share of it.
_TAKEN_UP = 0.8


@metric(
    "net",
    "mean_response_time_l4",
    quantity="response time",
    unit="s",
    aggregator="mean",
    sampling="increase of the rate",
    empty="null if no rate increases by a schedule of steps or a square wave, or several links' do",
    better="lower",
)
def mean_response_time(run: RunData) -> float:
    """From an increase of the bottleneck's rate to the end of the first sample in which all flows
    together deliver 80 % of the payload that the new rate carries. If that never comes before the
    next change, the whole time until then.
    """
    schedules = list(_schedules(run.scenario))
    if len(schedules) != 1 or not run.flow.count:
        return np.nan
    view = run.flow
    end = float(view.samples.ends[-1]) if len(view.samples.ends) else 0.0
    changes = [*rate_changes(schedules[0], end), (end, 0.0)]
    carried = np.nansum(view.throughput, axis=1) * 1e6
    payload = mean(ratio(view.mss, view.wire_size)[:, None])[0]
    times = []
    for (_, before), (at, rate), (until, _) in zip(changes, changes[1:], changes[2:], strict=False):
        if rate > before and at >= run.warmup - EPSILON:
            within = (view.samples.begins >= at - EPSILON) & (view.samples.ends <= until + EPSILON)
            reached = np.flatnonzero(within & (carried >= _TAKEN_UP * payload * rate))
            times.append(float(view.samples.ends[reached[0]] if len(reached) else until) - at)
    return float(np.mean(times)) if times else np.nan


def _schedules(node: Fields) -> Iterator[Fields]:
    """The schedules of rates in a scenario, with the rate before the first step."""
    for table in tables(node):
        if table.get("rate_schedule"):
            yield {**table["rate_schedule"], "rate": table.get("rate")}


def rate_changes(schedule: Fields, end: float) -> list[tuple[float, float]]:
    """When the rate becomes what, until a time; nothing if changes are drawn or repeat."""
    if schedule["kind"] == "square":
        period, high, low = (number(schedule[key]) for key in ("period", "high", "low"))
        on = period * number(schedule["duty"])
        starts = np.arange(0.0, end, period)
        changes = [(s + shift, r) for s in starts for shift, r in ((0.0, high), (on, low))]
    elif schedule["kind"] == "steps" and not schedule.get("repeat"):
        first = [(0.0, number(schedule["rate"]))] if schedule["rate"] else []
        steps = [(number(s["at"]), number(s["value"])) for s in schedule["steps"]]
        changes = first + steps
    else:
        return []
    return [(at, rate) for at, rate in changes if at < end]
