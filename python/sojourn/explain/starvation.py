"""Who gets much less than an even share of the bottleneck, beside whom, and why."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, percent, short
from sojourn.explain.party import Party
from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.warnings import STARVED
from sojourn.names import control_name

#: A party with less of an even share is told.
_LITTLE = 0.5
#: A flow that its own buffers limit for so much of its time is not starved by others.
_OWN = 0.5
#: Base RTTs that differ by this factor, and loss that does not, tell flows apart.
_LONGER, _ALIKE = 1.5, 2.0
#: A link at which packets wait for less, on average, is not congested; s.
_WAITS = 1e-3
#: Bandwidth-delay products in flight of a flow that fills the queue, and of one that does not.
_FILLS, _HOLDS_BACK = 2.0, 1.5


def find(evidence: Evidence) -> Iterator[Finding]:
    """A finding for each party that others leave little."""
    for party in evidence.parties:
        places = {evidence.flow.bottlenecks[flow] for flow in party.ids}
        if len(places) != 1 or (link := places.pop()) is None or _limits_itself(evidence, party):
            continue
        own, even = _delivered(evidence, party, link)
        share = float(ratio(own.sum(), even.sum()))
        if share < _LITTLE and (winner := _winner(evidence, party, link)):
            yield _of_party(evidence, party, winner, link)


def _limits_itself(evidence: Evidence, party: Party) -> bool:
    """Whether the network is not what keeps it small."""
    view = evidence.flow
    own = view.limited_by("receiver") + view.limited_by("send_buffer")
    alone = ~view.network_limited | (own > _OWN)
    return bool(alone[party.flows].any())


def _delivered(evidence: Evidence, party: Party, link: int) -> tuple[Values, Values]:
    """Bytes per interval that a party's flows got, and what an even division among the flows that
    were active would have given them of what all flows over that link got.
    """
    view = evidence.flow
    over = [flow for flow, place in enumerate(view.bottlenecks) if place == link]
    everything = np.nansum(view.counted("delivered_bytes")[:, over], axis=1)
    together = view.span[:, over].sum(axis=1)
    even = np.nan_to_num(ratio(everything * evidence.active(party), together))
    return evidence.over_time("delivered_bytes", party), even


def _winner(evidence: Evidence, loser: Party, link: int) -> Party | None:
    """Whose flows get most over the same link."""
    rates = {}
    for place, party in enumerate(evidence.parties):
        if party is not loser and all(evidence.flow.bottlenecks[f] == link for f in party.ids):
            rates[place] = _rate(evidence, party)
    best = max(rates, key=rates.__getitem__, default=None)
    return None if best is None or np.isnan(rates[best]) else evidence.parties[best]


def _rate(evidence: Evidence, party: Party) -> float:
    """Of each of its flows, Mbit/s."""
    delivered = 8e-6 * evidence.total("delivered_bytes", party)
    return float(ratio(delivered, evidence.active_time(party)))


def _of_party(evidence: Evidence, party: Party, winner: Party, link: int) -> Finding:
    own, even = _delivered(evidence, party, link)
    share = float(ratio(own.sum(), even.sum()))
    mine, theirs = (_rate(evidence, one) for one in (party, winner))
    each = " each" if len(party.flows) > 1 else ""
    word = "starves: " if share < STARVED else ""
    text = (
        f"{word}{short(mine)} Mbit/s{each}, {percent(share)} of an even share at "
        f"{evidence.links[link]}; {winner.name} got {short(theirs)}"
    )
    return Finding(
        "flow",
        party.name,
        1 - share,
        text,
        _why(evidence, party, winner),
        evidence.when((even > 0) & (own < _LITTLE * even)),
        party.ids,
        {"rate_mbit_s": mine, "share_of_even": share, "others_rate_mbit_s": theirs},
    )


def _why(evidence: Evidence, party: Party, winner: Party) -> str:
    """What tells the two apart: control, base RTT, and what congestion tells each."""
    mine, theirs = evidence.base_rtt(party), evidence.base_rtt(winner)
    own, other = (_controls(evidence, one) for one in (party, winner))
    told = []
    if not evidence.flow.windowed[winner.flows].any():
        return f"{other} does not answer to congestion"
    if mine > _LONGER * theirs:
        longer = f"{short(1e3 * mine)} ms, not {short(1e3 * theirs)} ms"
        told.append(f"its base RTT is {longer}, so that it grows more slowly")
    passes, passed = (len(_congested(evidence, one)) for one in (party, winner))
    if passes > passed:
        told.append(f"its packets wait at {passes} links on their way, the others at {passed}")
    if own != other:
        told.append(_bounds(evidence, party, winner) or _answers(evidence, party, winner, other))
    return "; ".join(filter(None, told))


def _congested(evidence: Evidence, party: Party) -> set[int]:
    """The links on a party's way where packets wait noticeably."""
    sums, counts = (evidence.link.total(f"sojourn_{of}") for of in ("sum", "count"))
    way = {link for flow in party.ids for link in evidence.paths[flow]}
    return {link for link in way if ratio(sums, counts)[link] >= _WAITS}


def _controls(evidence: Evidence, party: Party) -> str:
    names = {control_name(evidence.settings[flow]) for flow in party.ids}
    return " and ".join(sorted(names))


def _bounds(evidence: Evidence, party: Party, winner: Party) -> str:
    """That the other fills a queue of which it takes no more than a part."""
    mine, theirs = (
        float(ratio(evidence.total("in_flight_time", one), evidence.active_time(one)))
        for one in (party, winner)
    )
    bdp = float(evidence.flow.bdp[party.flows].mean())
    if not (theirs > _FILLS * bdp and mine < _HOLDS_BACK * bdp):
        return ""
    return (
        f"{winner.name} fills the queue with {short(theirs)} segments in flight; its own control "
        f"holds back at {short(mine)} (1 BDP is {short(bdp)})"
    )


def _answers(evidence: Evidence, party: Party, winner: Party, control: str) -> str:
    """That the other control yields less to the same signals."""
    mine, theirs = (_signals(evidence, one) for one in (party, winner))
    if np.isnan(mine) or np.isnan(theirs):
        return ""
    if theirs * _ALIKE >= mine:
        return (
            f"{control} yields less to congestion: {percent(theirs)} of {winner.name}'s packets "
            f"were lost or marked, {percent(mine)} of its own"
        )
    return f"congestion hits it more: {percent(mine)} of its packets were lost or marked, " + (
        f"{percent(theirs)} of {winner.name}'s"
    )


def _signals(evidence: Evidence, party: Party) -> float:
    """The share of packets that were lost or arrived with a CE mark; NaN of datagrams."""
    lost, marked = (evidence.total(column, party) for column in ("lost", "ce_received"))
    return float(ratio(lost + np.nan_to_num(marked), evidence.total("sent_packets", party)))
