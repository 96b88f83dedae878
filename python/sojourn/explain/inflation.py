"""How far round trips are beyond what propagation takes, and where the difference is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, short
from sojourn.explain.party import Party
from sojourn.metrics.columns import ratio

#: A round trip within so much of the base RTT is not told, in s and as a factor.
_LEAST, _LEAST_FACTOR = 1e-3, 1.1
#: An own minimum beyond this factor is not the path's.
_MISTAKEN = 1.1
#: The cause of the same delay, the queue, is told first.
_BEHIND = 0.95
#: What else takes time, where queues take less than half of the difference.
_REST = "the rest is transmission and delayed ACKs"
#: Parties that differ by less are told together.
_ALIKE = 0.1


def find(evidence: Evidence) -> Iterator[Finding]:
    """A finding for each party whose smoothed RTT is well above its base RTT, for those alike
    together.
    """
    for party in _alike(evidence):
        srtt, base, _ = _numbers(evidence, party)
        if srtt > base + _LEAST and srtt > _LEAST_FACTOR * base:
            yield _of_party(evidence, party)


def _alike(evidence: Evidence) -> list[Party]:
    """The parties, those with about the same smoothed, base and least RTT as one."""
    found: list[list[Party]] = []
    for party in evidence.parties:
        numbers = _numbers(evidence, party)
        for others in found:
            if np.allclose(numbers, _numbers(evidence, others[0]), _ALIKE, 0, equal_nan=True):
                others.append(party)
                break
        else:
            found.append([party])
    return [
        Party(
            " and ".join(party.name for party in alike),
            np.concatenate([party.flows for party in alike]),
        )
        for alike in found
    ]


def _numbers(evidence: Evidence, party: Party) -> tuple[float, float, float]:
    """Smoothed, base and least RTT, s: means over time and flows."""
    srtt = ratio(evidence.total("srtt_time", party), evidence.total("srtt_known", party))
    return float(srtt), evidence.base_rtt(party), _own_minimum(evidence, party)


def _of_party(evidence: Evidence, party: Party) -> Finding:
    srtt, base, own = _numbers(evidence, party)
    known, over = (evidence.over_time(f"srtt_{of}", party) for of in ("known", "time"))
    each = np.nan_to_num(ratio(over, known))
    factor = f", {short(srtt / base)} times the base RTT of {short(1e3 * base)} ms" if base else ""
    queued, measured = _queued(evidence, party)
    place = f"queues on its way held its packets for {short(1e3 * queued)} ms of that"
    mistaken = f"the least RTT is taken for {short(1e3 * own)} ms"
    told = [place if measured and queued > 0 else ""]
    told += [mistaken if own > _MISTAKEN * base + _LEAST else ""]
    guesses = [place if not measured and queued > 0 else ""]
    back = "" if evidence.waited is not None else ", and queues on the way of the ACKs"
    guesses += [f"{_REST}{back}" if queued < (srtt - base) / 2 else ""]
    return Finding(
        "flow",
        party.name,
        _BEHIND * (1 - base / srtt),
        "; ".join(filter(None, [f"sRTT {short(1e3 * srtt)} ms on average{factor}", *told])),
        "; ".join(filter(None, guesses)),
        evidence.when(each - base >= (srtt - base) / 2),
        party.ids,
        {"srtt_ms": 1e3 * srtt, "base_rtt_ms": 1e3 * base, "queues_ms": 1e3 * queued,
         "own_minimum_ms": 1e3 * own},
    )  # fmt: skip


def _queued(evidence: Evidence, party: Party) -> tuple[float, bool]:
    """Mean time in all queues on the way of each flow (s), and whether it is that of the party's
    own packets, there and back: else it is that of all packets where its data passes, which is the
    same in a queue without classes.
    """
    if evidence.waited is not None:
        rows = evidence.waited.filter(pl.col("flow").is_in([*party.ids]))
        each = rows.group_by("flow").agg((pl.col("sojourn") / pl.col("count")).sum())
        return float(each["sojourn"].to_numpy().mean()) if each.height else np.nan, True
    sums, counts = (evidence.link.total(f"sojourn_{of}") for of in ("sum", "count"))
    links = np.nan_to_num(ratio(sums, counts))
    alone = len(evidence.parties) == 1 and not evidence.come_and_go
    return float(np.mean([links[[*evidence.paths[flow]]].sum() for flow in party.ids])), alone


def _own_minimum(evidence: Evidence, party: Party) -> float:
    """What was taken for the minimum of the RTT, s: by controls whose state was recorded, or else
    by the senders, the median over time and flows.
    """
    believed = [evidence.believed(flow, "min_rtt") for flow in party.ids]
    if np.isfinite(believed).all():
        return float(np.mean(believed))
    values = evidence.flow.samples["min_rtt"][:, party.flows]
    known = values[evidence.flow.active[:, party.flows] & ~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan
