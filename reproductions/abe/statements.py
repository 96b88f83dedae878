"""What the slides and RFC 8511 state. The criteria were settled before the first run."""

from __future__ import annotations

from sojourn.reproduction.statements import Statement
from sojourn_reproductions.abe import criteria
from sojourn_reproductions.abe.trade_off import LONG_RTT

STATEMENTS = (
    Statement(
        "marks",
        "slides",
        "With ECN, marks take the place of losses",
        "trace: at most a tenth of the drops without ECN, on each AQM",
        criteria.marks_replace_losses,
    ),
    Statement(
        "median-rtt",
        "slides",
        "Raising beta_ecn changes the median RTT insignificantly",
        f"by at most {criteria.INSIGNIFICANT:g} ms at every RTT, up to 0.8 (Cubic: 0.85)",
        criteria.median_rtt,
    ),
    Statement(
        "clear-gain",
        "slides",
        "Throughput gains are clear",
        f"NewReno at 0.8: at least {criteria.CLEAR:g} % at RTTs from {criteria.CLEAR_RTT:g} ms "
        "on, on each AQM",
        criteria.clear_gain,
    ),
    Statement(
        "gain-by-rtt",
        "slides",
        "Gains are larger at larger RTT",
        f"NewReno at 0.8: Spearman's rank correlation of at least {criteria.MONOTONE}, on each AQM",
        criteria.larger_at_larger_rtt,
    ),
    Statement(
        "cubic-gain",
        "slides",
        "Gains are smaller for Cubic than for NewReno",
        f"mean over RTTs from {LONG_RTT:g} ms on, at 0.85 and 0.8, on each AQM",
        criteria.smaller_for_cubic,
    ),
    Statement(
        "codel",
        "slides",
        "Default CoDel under-utilises the link as the RTT grows",
        f"NewReno, standard backoff: utilization at the longest RTT {criteria.UNDER_UTILISED} or "
        "more below that at the shortest",
        criteria.codel_under_utilises,
    ),
    Statement(
        "delay-distributions",
        "slides",
        "Queueing-delay distributions are alike for NewReno and Cubic",
        "at 0.8 and 0.85: medians within 5 ms, 95th percentiles within 10 ms, at every RTT",
        criteria.distributions_alike,
    ),
    Statement(
        "convergence",
        "slides",
        "A gentler backoff costs convergence time, tolerably at 0.8",
        f"median over the grid: more at 0.9 than at 0.6, at most {criteria.SLOWER:g} times at 0.8",
        criteria.slower_convergence,
    ),
    Statement(
        "knee-delay",
        "RFC 8511, 3.1",
        "The trade-off of throughput and delay has its knee at 0.8 (Cubic: 0.85)",
        "farthest point from the chord within 0.05 of it, on each AQM",
        criteria.knee_of_delay,
    ),
    Statement(
        "knee-convergence",
        "RFC 8511, 3.1",
        "The trade-off of throughput and convergence has its knee at 0.8 (NewReno)",
        "farthest point from the chord within 0.05 of it, on each AQM",
        criteria.knee_of_convergence,
    ),
    Statement(
        "short-flows",
        "slides",
        "Short flows that end just after slow start do not suffer",
        f"completion times at 0.8 and 0.85 over standard: median at most {criteria.NO_LATER}, "
        f"none above {criteria.WORST}",
        criteria.short_flows,
    ),
)
