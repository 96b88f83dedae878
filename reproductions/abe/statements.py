"""What the slides and RFC 8511 state, and what was expected of the slides' figures beyond that. The
criteria were settled before the first run; the card says since when.
"""

from __future__ import annotations

from sojourn.reproduction.statements import GOALS, Statement
from sojourn_reproductions.abe import criteria
from sojourn_reproductions.abe.trade_off import LONG_RTT
from sojourn_reproductions.abe.values import RECOMMENDED

_SLIDES, _RFC = "slides", "RFC 8511, 3.1"
_RENO, _CUBIC = (f"{RECOMMENDED[cca]:g}" for cca in ("reno", "cubic"))

STATEMENTS = (
    Statement(
        "marks",
        GOALS,
        "With ECN, marks take the place of losses",
        "trace: at most a tenth of the drops without ECN, on each AQM",
        criteria.marks_replace_losses,
    ),
    Statement(
        "median-rtt",
        _SLIDES,
        "Raising beta_ecn changes the median RTT insignificantly",
        f"by at most {criteria.INSIGNIFICANT:g} ms at every RTT, up to {_RENO} (Cubic: {_CUBIC})",
        criteria.median_rtt,
    ),
    Statement(
        "clear-gain",
        _SLIDES,
        "Throughput gains are clear",
        f"NewReno at {_RENO}: at least {criteria.CLEAR:g} % at RTTs from {criteria.CLEAR_RTT:g} ms "
        "on, on each AQM",
        criteria.clear_gain,
    ),
    Statement(
        "gain-by-rtt",
        GOALS,
        "Gains are larger at larger RTT",
        f"NewReno at {_RENO}: Spearman's rank correlation of at least {criteria.MONOTONE}, on each "
        "AQM",
        criteria.larger_at_larger_rtt,
    ),
    Statement(
        "cubic-gain",
        _SLIDES,
        "Gains are smaller for Cubic than for NewReno",
        f"mean over RTTs from {LONG_RTT:g} ms on, at {_CUBIC} and {_RENO}, on each AQM",
        criteria.smaller_for_cubic,
    ),
    Statement(
        "codel",
        _SLIDES,
        "Default CoDel under-utilises the link as the RTT grows",
        f"NewReno, standard backoff: utilization at the longest RTT {criteria.UNDER_UTILISED} or "
        "more below that at the shortest",
        criteria.codel_under_utilises,
    ),
    Statement(
        "delay-distributions",
        _SLIDES,
        "Queueing-delay distributions are alike for NewReno and Cubic",
        f"at {_RENO} and {_CUBIC}: medians within 5 ms, 95th percentiles within 10 ms, at every "
        "RTT",
        criteria.distributions_alike,
    ),
    Statement(
        "convergence",
        GOALS,
        f"A gentler backoff costs convergence time, tolerably at {_RENO}",
        f"median over the grid: more at 0.9 than at 0.6, at most {criteria.SLOWER:g} times "
        f"at {_RENO}",
        criteria.slower_convergence,
    ),
    Statement(
        "knee-delay",
        _RFC,
        f"The trade-off of throughput and delay has its knee at {_RENO} (Cubic: {_CUBIC})",
        "farthest point from the chord within 0.05 of it, on each AQM",
        criteria.knee_of_delay,
    ),
    Statement(
        "knee-convergence",
        _RFC,
        f"The trade-off of throughput and convergence has its knee at {_RENO} (NewReno)",
        "farthest point from the chord within 0.05 of it, on each AQM",
        criteria.knee_of_convergence,
    ),
    Statement(
        "short-flows",
        GOALS,
        "Short flows that end just after slow start do not suffer",
        f"completion times at {_RENO} and {_CUBIC} over standard: median at most "
        f"{criteria.NO_LATER}, none above {criteria.WORST}",
        criteria.short_flows,
    ),
)
