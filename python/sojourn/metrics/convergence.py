"""How fast a flow settles, and how steady it is then."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sojourn.metrics.columns import Values
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

#: Lin et al. (2020) smooth the congestion window over this many seconds.
WINDOW = 30.0
_BAND = 0.2
_FILLING_WINDOW = 10.0
_FILLED = 0.95


def _moving_average(run: RunData, flow: int) -> tuple[Values, Values]:
    """Ends (s after the start) and values of the flow's mean cwnd over whole windows."""
    span = run.flow.span[:, flow]
    active = span > 0
    elapsed = np.cumsum(span[active])
    integral = np.cumsum(run.flow.samples["cwnd_time"][active, flow])
    whole = elapsed >= WINDOW - 1e-9
    knots = np.concatenate([[0.0], elapsed]), np.concatenate([[0.0], integral])
    before = np.interp(elapsed[whole] - WINDOW, *knots)
    return elapsed[whole], (integral[whole] - before) / WINDOW


def _with_windows(run: RunData, seconds: float) -> list[int]:
    """The flows whose pace the network sets, active for so long."""
    long_enough = run.flow.active_time >= seconds - 1e-9
    return np.flatnonzero(run.flow.network_limited & long_enough).tolist()


def unsettled(run: RunData) -> NDArray[np.bool_]:
    """Which flows end with a moving average of cwnd outside the band that defines convergence."""
    outside = np.zeros(run.flow.count, dtype=bool)
    for flow in _with_windows(run, WINDOW):
        _, mu = _moving_average(run, flow)
        outside[flow] = abs(mu[-1] - mu.mean()) > _BAND * mu.mean()
    return outside


def _each(run: RunData, seconds: float, compute: Callable[[RunData, int], float]) -> Values:
    """A value for each of those flows, NaN for the others."""
    values = np.full(run.flow.count, np.nan)
    for flow in _with_windows(run, seconds):
        values[flow] = compute(run, flow)
    return values


def _settling(run: RunData, flow: int) -> tuple[float, float]:
    """Convergence time (s) and stability (segments) of one flow."""
    ends, mu = _moving_average(run, flow)
    centre = mu.mean()
    inside = np.flatnonzero(np.abs(mu - centre) <= _BAND * centre)
    if not len(inside):
        return np.nan, np.nan
    first = inside[0]
    return float(ends[first]), float(np.sqrt(((mu[first:] - centre) ** 2).mean()))


@metric(
    "flow",
    "convergence_time_l4",
    quantity="convergence time of cwnd",
    unit="s",
    aggregator="first",
    empty="null for UDP, for a flow that its application limits, and below 30 s of activity",
    better="lower",
)
def convergence_time(run: RunData) -> Values:
    """Lin 2020: when the moving average of cwnd over 30 s first lies within 20 % of its mean over
    the whole run.
    """
    return _each(run, WINDOW, lambda run, flow: _settling(run, flow)[0])


@metric(
    "flow",
    "stability_l4",
    quantity="deviation of cwnd",
    unit="segments",
    aggregator="root mean square",
    empty="null where convergence_time_l4 is",
    better="lower",
)
def stability(run: RunData) -> Values:
    """Lin 2020: root mean square, after convergence, of that moving average about its mean."""
    return _each(run, WINDOW, lambda run, flow: _settling(run, flow)[1])


@metric(
    "flow",
    "filling_time_l4",
    quantity="time to fill the link",
    unit="s",
    aggregator="first",
    empty="null for UDP, for a flow that its application limits, and below 10 s of activity",
    better="lower",
)
def filling_time(run: RunData) -> Values:
    """From the start until 10 s have first carried 95 % of the most that any 10 s carry."""
    return _each(run, _FILLING_WINDOW, _filled)


def _filled(run: RunData, flow: int) -> float:
    span = run.flow.span[:, flow]
    active = span > 0
    elapsed = np.concatenate([[0.0], np.cumsum(span[active])])
    carried = np.cumsum(run.flow.samples["delivered_bytes"][active, flow])
    carried = np.concatenate([[0.0], carried])
    ends = elapsed[elapsed >= _FILLING_WINDOW - 1e-9]
    window = carried[-len(ends) :] - np.interp(ends - _FILLING_WINDOW, elapsed, carried)
    return float(ends[np.argmax(window >= _FILLED * window.max())])
