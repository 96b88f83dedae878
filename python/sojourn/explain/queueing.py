"""Where packets waited, how long, and whose they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, percent, short
from sojourn.explain.party import Party
from sojourn.explain.stretches import longest
from sojourn.metrics.columns import Values, ratio

#: A mean delay of less, or less of the base RTT, is not told.
_LEAST, _LEAST_SHARE = 1e-3, 0.05
#: Of all waiting, from which on what flows have too much in flight is taken to wait at one link.
_NEARLY_ALL = 0.8


def find(evidence: Evidence) -> Iterator[Finding]:
    """A finding for each link whose queue delays packets noticeably."""
    sums, counts = (evidence.link.total(f"sojourn_{of}") for of in ("sum", "count"))
    for link, delay in enumerate(ratio(sums, counts)):
        crossing = evidence.crossing(link)
        base = _base_rtt(evidence, crossing or evidence.parties)
        if delay >= max(_LEAST, _LEAST_SHARE * base):
            yield _of_link(evidence, link, float(delay), base)


def _base_rtt(evidence: Evidence, parties: Sequence[Party]) -> float:
    """Mean over the flows of these parties, or without any over transfers, s; 0 without these."""
    flows = [flow for party in parties for flow in party.ids]
    if flows:
        return float(evidence.flow.base_rtt[flows].mean())
    arrivals = evidence.run.data.network.get("arrivals") or []
    each = [variant["base_rtt"] for entry in arrivals for variant in entry["variants"]]
    return float(np.mean(each)) if each else 0.0


def _of_link(evidence: Evidence, link: int, delay: float, base: float) -> Finding:
    view = evidence.link
    samples = view.samples
    each = ratio(samples["sojourn_sum"][:, link], samples["sojourn_count"][:, link])
    each = np.where(view.counted, np.nan_to_num(each), 0.0)
    peak = int(np.argmax(each))
    length = float(ratio(view.total("queue_time"), view.time)[link])
    p95 = float(view.table["sojourn_p95"][link])
    whose, known = _whose(evidence, link)
    drops = sum(float(view.total(f"drops_{why}")[link]) for why in ("overflow", "aqm"))
    text = (
        f"packets waited {short(1e3 * delay)} ms on average (p95 {short(1e3 * p95)}, most "
        f"{short(1e3 * each[peak])} at {short(samples.ends[peak])} s), "
        f"{short(length)} of them at a time{'' if drops else ', and none was dropped'}"
    )
    return Finding(
        "link",
        f"link {evidence.links[link]}",
        delay / (delay + base),
        text + (f"; {whose}" if known and whose else ""),
        "" if known else whose,
        longest(each >= delay / 2, samples.begins, samples.ends),
        numbers={"mean_ms": 1e3 * delay, "p95_ms": 1e3 * p95, "most_ms": 1e3 * each[peak],
                 "length_packets": length},
    )  # fmt: skip


def _whose(evidence: Evidence, link: int) -> tuple[str, bool]:
    """Whose packets wait there, and whether that was recorded."""
    if evidence.waited is not None:
        rows = evidence.waited.filter(pl.col("link") == evidence.links[link])
        waiting, through = (evidence.by_party(rows, of) for of in ("sojourn", "count"))
        return _told(waiting, through), True
    crossing = evidence.crossing(link)
    waits = evidence.link.total("queue_time")
    if evidence.come_and_go or len(crossing) < 2 or waits[link] < _NEARLY_ALL * waits.sum():
        return "", False
    delivered = {p.name: evidence.total("delivered_packets", p) for p in crossing}
    sums, counts = (float(evidence.link.total(f"sojourn_{of}")[link]) for of in ("sum", "count"))
    each, waiting = sums / counts, {}
    for party in crossing:
        excess = float(np.sum(_excess(evidence, party)))
        waiting[party.name] = excess if np.isfinite(excess) else delivered[party.name] * each
    return _told(dict(sorted(waiting.items(), key=lambda item: -item[1])), delivered), False


def _excess(evidence: Evidence, party: Party) -> Values:
    """Packet-seconds that each flow had in flight beyond what its deliveries need for the base
    RTT (Little's law); NaN of a flow that does not tell what is in flight.
    """
    view = evidence.flow
    needed = view.total("delivered_packets") * view.base_rtt
    return np.maximum(view.total("in_flight_time") - needed, 0.0)[party.flows]


def _told(waiting: dict[str, float], through: dict[str, float]) -> str:
    """Who has most of the queue, and how much of what came through."""
    whole, passed = sum(waiting.values()), sum(through.values())
    if len(waiting) < 2 or whole <= 0 or passed <= 0:
        return ""
    name, most = next(iter(waiting.items()))
    return (
        f"{percent(most / whole)} of the queue is {name}'s, with "
        f"{percent(through.get(name, 0.0) / passed)} of what came through"
    )
