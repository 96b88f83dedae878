"""Congestion marks: what queues set, what arrived, what came back, and whether it was heeded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, percent, short
from sojourn.explain.party import Party
from sojourn.metrics.columns import ratio

#: Fewer marks, fewer drops, or a smaller share of marked packets is not told.
_FEW, _FEW_DROPS, _LEAST = 10, 2, 0.01
#: Marks that arrive beside those that were set: fewer than this part are missing.
_MISSING = 0.5
#: The share of marked packets at which the weight is half of its most.
_HALF = 0.05
#: A control that answers each mark by half a segment or more gets about two in each round trip.
_HEEDED = 5.0
#: Weights of marks that go astray, of senders that cannot mark, and of marks as they should be.
_ASTRAY, _INCAPABLE, _USUAL = 0.95, 0.6, 0.6


def find(evidence: Evidence) -> Iterator[Finding]:
    """Marks that do not arrive, or that no queue set; then those of each party."""
    if not evidence.come_and_go:  # whose marks are not in the samples of flows
        yield from _on_the_way(evidence)
    for party in evidence.parties:
        if _is_capable(evidence, party):
            yield from _unmarked(evidence, party)
            yield from _marked(evidence, party)


def _is_capable(evidence: Evidence, party: Party) -> bool:
    """Whether its flows ask for ECN."""
    return any((evidence.settings[flow].get("ecn") or "off") != "off" for flow in party.ids)


def _links(evidence: Evidence, party: Party) -> list[int]:
    """Those that its data crosses."""
    return sorted({link for flow in party.ids for link in evidence.paths[flow]})


def _on_the_way(evidence: Evidence) -> Iterator[Finding]:
    """Whether the marks that were set are those that arrived."""
    links = sorted({link for party in evidence.parties for link in _links(evidence, party)})
    received = sum(evidence.total("ce_received", party) for party in evidence.parties)
    each = evidence.link.total("ce_marks")
    was_set = float(each[links].sum())
    numbers = {"marks_set": was_set, "marks_received": received}
    if was_set >= _FEW and received < _MISSING * was_set:
        first = max(links, key=lambda link: each[link])
        text = f"{was_set:,.0f} CE marks set, {received:,.0f} arrived at receivers"
        guess = f"something beyond the queue of {evidence.links[first]} clears the ECN field"
        yield Finding("net", "all flows", _ASTRAY, text, guess, numbers=numbers)
    elif received >= _FEW and was_set < _MISSING * received:
        text = f"{received:,.0f} packets arrived with CE marks, of which links set {was_set:,.0f}"
        guess = "something on the way sets CE whatever the queues do"
        yield Finding("net", "all flows", _ASTRAY, text, guess, numbers=numbers)


def _unmarked(evidence: Evidence, party: Party) -> Iterator[Finding]:
    """A queue discipline that drops packets of flows that ask for marks."""
    links = _links(evidence, party)
    dropped, marked = (
        float(evidence.link.total(column)[links].sum()) for column in ("drops_aqm", "ce_marks")
    )
    if dropped >= _FEW_DROPS and marked == 0:
        text = f"asks for ECN; the control laws on its way dropped {dropped:,.0f} packets, marked 0"
        guess = "its packets reach the queue without ECN, or the queue discipline does not mark"
        numbers = {"drops": dropped, "marks_set": marked}
        yield Finding("flow", party.name, _INCAPABLE, text, guess, flows=party.ids, numbers=numbers)


def _marked(evidence: Evidence, party: Party) -> Iterator[Finding]:
    """What it does about the marks that arrive."""
    received = evidence.total("ce_received", party)
    share = float(ratio(received, evidence.total("delivered_packets", party)))
    if not share > _LEAST:
        return
    flying = float(ratio(evidence.total("in_flight_time", party), evidence.active_time(party)))
    per_round, echoes = share * flying, evidence.total("ece_acks", party)
    text = f"{percent(share)} of its packets arrived with CE marks"
    guess, weight = "", _USUAL * share / (share + _HALF)
    if echoes == 0:
        text += ", no ACK told the sender"
        guess, weight = "the sender never hears of congestion", _ASTRAY
    elif np.isfinite(per_round):
        text += f", {short(per_round)} in each round trip"
        if per_round > _HEEDED:
            guess = "its control does not slow down for them: one that does gets about 2"
            weight = max(weight, _USUAL)
    numbers = {"marked_share": share, "marks_per_round_trip": per_round, "echoes": echoes}
    half = evidence.over_time("ce_received", party) * 2 >= share * evidence.over_time(
        "delivered_packets", party
    )
    yield Finding(
        "flow", party.name, weight, text, guess,
        evidence.when(half & (evidence.active(party) > 0)), party.ids, numbers,
    )  # fmt: skip
