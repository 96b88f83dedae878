"""The criteria that stand for the statements, settled before the first run; the card says since
when.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

from sojourn.reproduction.statements import Finding
from sojourn_reproductions.abe import trade_off
from sojourn_reproductions.abe.trade_off import LONG_RTT
from sojourn_reproductions.abe.values import (
    AQMS,
    BACKOFF,
    CCAS,
    CONVERGENCE,
    NAMES,
    RECOMMENDED,
    SHORT_FLOWS,
    TRACE,
    Pair,
    Row,
    pairs,
    recommended,
    some,
)

#: Share of the drops without ECN that may be left with it.
FEW = 0.1
#: An insignificant change of the median RTT, ms: CoDel's target, a quarter of PIE's.
INSIGNIFICANT = 5.0
#: Distributions of queueing delay are alike within this, ms.
_ALIKE = {"p50_qdisc_delay_l2": 5.0, "p95_qdisc_delay_l2": 10.0}
#: A gain is clear from here, %, at these RTTs, ms.
CLEAR = 5.0
CLEAR_RTT = 160.0
MONOTONE = 0.8
_FEWEST_RANKS = 4
#: Utilisation lost between the shortest and the longest RTT.
UNDER_UTILISED = 0.10
#: Knees are where they are said to be within half a step of RFC 8511's range.
KNEE_TOLERANCE = 0.051
#: The convergence time that 0.8 may cost.
SLOWER = 2.0
#: Completion times: as good as equal, and the worst.
NO_LATER = 1.02
WORST = 1.10


def marks_replace_losses(rows: Sequence[Row]) -> Finding:
    """Drops with ECN against drops without."""
    found = [r for r in rows if (r["experiment"], r["metric"]) == (TRACE, "total_qdisc_drops_l2")]
    numbers, holds = [], True
    for aqm in AQMS:
        of_aqm = [r for r in found if r["aqm"] == aqm and r["measured"] is not None]
        drops = {r["beta_ecn"]: r["measured"] for r in of_aqm}
        lost = drops.pop("no ECN")
        marked = max(some(list(drops.values()), "drops with ECN"))
        holds &= marked <= FEW * lost
        numbers.append(f"{NAMES[aqm]}: {lost:.0f} drops without ECN, {marked:.0f} with")
    return Finding(holds, "; ".join(numbers))


def median_rtt(rows: Sequence[Row]) -> Finding:
    """Its largest change."""
    found = pairs(rows, BACKOFF, "p50_rtt_l4")
    found = some([p for p in found if p.beta_ecn <= RECOMMENDED[p.cca]], "smaller beta_ecn")
    worst = max(found, key=lambda p: abs(p.rise))
    share = fmean(abs(p.rise) <= INSIGNIFICANT for p in found)
    return Finding(
        abs(worst.rise) <= INSIGNIFICANT,
        f"largest change {worst.rise:+.1f} ms ({_told(worst)}); "
        f"{100 * share:.0f} % of the changes are within {INSIGNIFICANT:g} ms",
    )


def clear_gain(rows: Sequence[Row]) -> Finding:
    """NewReno's smallest at long RTTs."""
    found = _long(recommended(pairs(rows, BACKOFF, "mean_throughput_l4", cca="reno")), CLEAR_RTT)
    least = min(found, key=lambda p: p.gain)
    return Finding(least.gain >= CLEAR, f"smallest {least.gain:+.1f} % ({_told(least)})")


def larger_at_larger_rtt(rows: Sequence[Row]) -> Finding:
    """How the gain ranks with the RTT."""
    found = recommended(pairs(rows, BACKOFF, "mean_throughput_l4", cca="reno"))
    ranks = {a: _rank_correlation([p for p in found if p.aqm == a]) for a in AQMS}
    told = (f"{NAMES[a]}: {rank:.2f}" for a, rank in ranks.items())
    return Finding(all(rank >= MONOTONE for rank in ranks.values()), "; ".join(told))


def _rank_correlation(found: Sequence[Pair]) -> float:
    """Spearman's, of gain and RTT."""
    from scipy.stats import spearmanr  # takes longer to import than all else

    if len(found) < _FEWEST_RANKS:
        raise KeyError("more RTTs")
    rank: float = spearmanr([p.rtt for p in found], [p.gain for p in found]).statistic
    return rank


def smaller_for_cubic(rows: Sequence[Row]) -> Finding:
    """Mean gains of both controls."""
    found = _long(recommended(pairs(rows, BACKOFF, "mean_throughput_l4")), LONG_RTT)
    mean = {
        (a, c): fmean(some([p.gain for p in found if (p.aqm, p.cca) == (a, c)], f"{c} on {a}"))
        for a in AQMS
        for c in CCAS
    }
    told = (
        f"{NAMES[a]}: NewReno {mean[a, 'reno']:+.1f} %, Cubic {mean[a, 'cubic']:+.1f} %"
        for a in AQMS
    )
    return Finding(all(mean[a, "cubic"] < mean[a, "reno"] for a in AQMS), "; ".join(told))


def codel_under_utilises(rows: Sequence[Row]) -> Finding:
    """Utilization at the ends of the range of RTTs."""
    found = pairs(rows, BACKOFF, "utilization_l1", aqm="codel", cca="reno")
    by_rtt = {p.rtt: p.standard for p in found}
    shortest, longest = by_rtt[min(by_rtt)], by_rtt[max(by_rtt)]
    return Finding(
        shortest - longest >= UNDER_UTILISED,
        f"{shortest:.3f} at {min(by_rtt):g} ms, {longest:.3f} at {max(by_rtt):g} ms",
    )


def distributions_alike(rows: Sequence[Row]) -> Finding:
    """Percentiles of both controls' queueing delay."""
    numbers, holds = [], True
    for metric, tolerance in _ALIKE.items():
        found = recommended(pairs(rows, BACKOFF, metric))
        value = {(p.aqm, p.cca, p.rtt): p.value for p in found}
        differences = {
            (a, rtt): value[a, "cubic", rtt] - value[a, c, rtt]
            for a, c, rtt in value
            if c == "reno"
        }
        (aqm, rtt), worst = max(differences.items(), key=lambda item: abs(item[1]))
        holds &= abs(worst) <= tolerance
        numbers.append(f"{metric[:3]} {worst:+.1f} ms ({NAMES[aqm]}, {rtt:g} ms)")
    return Finding(holds, "largest differences, Cubic less NewReno: " + "; ".join(numbers))


def slower_convergence(rows: Sequence[Row]) -> Finding:
    """Relative convergence times."""
    found = pairs(rows, CONVERGENCE, "convergence_time")
    numbers, holds = [], True
    for aqm in AQMS:
        ratio = {
            beta: median(p.ratio for p in found if (p.aqm, p.beta_ecn) == (aqm, beta))
            for beta in sorted({p.beta_ecn for p in found if p.aqm == aqm})
        }
        holds &= ratio[0.6] < ratio[0.9] and ratio[RECOMMENDED["reno"]] <= SLOWER
        told = ", ".join(f"{r:.2f} ({beta:g})" for beta, r in ratio.items())
        numbers.append(f"{NAMES[aqm]}: {told}")
    return Finding(holds, "; ".join(numbers))


def knee_of_delay(rows: Sequence[Row]) -> Finding:
    """Throughput against median RTT."""
    return _knees([trade_off.delay_curve(rows, a, c) for c in CCAS for a in AQMS])


def knee_of_convergence(rows: Sequence[Row]) -> Finding:
    """Throughput against convergence time, NewReno."""
    return _knees([trade_off.convergence_curve(rows, a) for a in AQMS])


def _knees(curves: Sequence[trade_off.Curve]) -> Finding:
    holds = all(abs(c.knee() - RECOMMENDED[c.cca]) <= KNEE_TOLERANCE for c in curves)
    told = (f"{NAMES[c.cca]} on {NAMES[c.aqm]}: {c.knee():g}" for c in curves)
    return Finding(holds, "; ".join(told))


def short_flows(rows: Sequence[Row]) -> Finding:
    """Relative completion times."""
    found = recommended(pairs(rows, SHORT_FLOWS, "flow_completion_time_l4"))
    middle = median(p.ratio for p in found)
    worst = max(found, key=lambda p: p.ratio)
    best = min(found, key=lambda p: p.ratio)
    return Finding(
        middle <= NO_LATER and worst.ratio <= WORST,
        f"median {middle:.3f}; from {best.ratio:.3f} ({_told(best)}) "
        f"to {worst.ratio:.3f} ({_told(worst)})",
    )


def _long(found: Sequence[Pair], rtt: float) -> Sequence[Pair]:
    return some([p for p in found if p.rtt >= rtt], f"RTTs from {rtt:g} ms on")


def _told(pair: Pair) -> str:
    size = f", {pair.size:g} kB" if pair.size == pair.size else ""
    return f"{NAMES[pair.cca]}, {NAMES[pair.aqm]}, {pair.rtt:g} ms, {pair.beta_ecn:g}{size}"
