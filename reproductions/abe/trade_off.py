"""What a gentler backoff gains and costs, and where its curve has a knee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from sojourn_reproductions.abe.values import BACKOFF, CONVERGENCE, Pair, Row, pairs

#: RTTs at which a gain is to be had: at shorter ones even standard backoff fills the link.
LONG_RTT = 80.0
#: A knee needs that many points of its curve.
_FEWEST_POINTS = 5


@dataclass(frozen=True)
class Curve:
    """Gain against cost, one point per beta_ecn."""

    aqm: str
    cca: str
    beta_ecn: Sequence[float]
    #: Relative change.
    cost: Sequence[float]
    #: Mean throughput gain at long RTTs, %.
    gain: Sequence[float]

    def knee(self) -> float:
        """The beta_ecn of the point that lies farthest above the straight line from the first
        point to the last, with both axes scaled to the curve's extent.

        Raises:
            KeyError: if there are too few points.

        """
        if len(self.beta_ecn) < _FEWEST_POINTS:
            raise KeyError("more values of beta_ecn")
        above = [_scaled(self.gain, g) - _scaled(self.cost, c) for c, g in self._points()]
        return self.beta_ecn[above.index(max(above))]

    def _points(self) -> list[tuple[float, float]]:
        return list(zip(self.cost, self.gain, strict=True))


def _scaled(values: Sequence[float], value: float) -> float:
    """0 for the first value, 1 for the last."""
    extent = values[-1] - values[0]
    return (value - values[0]) / extent if extent else 0.0


def gains(rows: Sequence[Row], aqm: str, cca: str) -> dict[float, float]:
    """Mean throughput gain over long RTTs per beta_ecn, %."""
    found = pairs(rows, BACKOFF, "mean_throughput_l4", aqm=aqm, cca=cca)
    return {beta: fmean(p.gain for p in at) for beta, at in _by_beta(found, LONG_RTT).items()}


def delay_curve(rows: Sequence[Row], aqm: str, cca: str) -> Curve:
    """The gain against the mean rise of the median RTT at long RTTs, ms."""
    found = pairs(rows, BACKOFF, "p50_rtt_l4", aqm=aqm, cca=cca)
    rises = {beta: fmean(p.rise for p in at) for beta, at in _by_beta(found, LONG_RTT).items()}
    return _curve(aqm, cca, rises, gains(rows, aqm, cca))


def convergence_curve(rows: Sequence[Row], aqm: str) -> Curve:
    """NewReno's gain against the median over rates and RTTs of the relative convergence time."""
    found = pairs(rows, CONVERGENCE, "convergence_time", aqm=aqm)
    times = {beta: median(p.ratio for p in at) for beta, at in _by_beta(found).items()}
    return _curve(aqm, "reno", times, gains(rows, aqm, "reno"))


def _by_beta(found: Sequence[Pair], least_rtt: float = 0.0) -> dict[float, list[Pair]]:
    by_beta: dict[float, list[Pair]] = {}
    for pair in found:
        if pair.rtt >= least_rtt:
            by_beta.setdefault(pair.beta_ecn, []).append(pair)
    return dict(sorted(by_beta.items()))


def _curve(aqm: str, cca: str, cost: Mapping[float, float], gain: Mapping[float, float]) -> Curve:
    both = [beta for beta in cost if beta in gain]
    return Curve(aqm, cca, both, [cost[b] for b in both], [gain[b] for b in both])
