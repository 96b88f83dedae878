"""What kept each sender from sending more, and when."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, percent, short
from sojourn.explain.party import Party
from sojourn.metrics.columns import ratio
from sojourn.metrics.limits import LIMITS

_CALLED = {
    "cwnd": "the congestion window",
    "pacing": "pacing",
    "receiver": "the receiver's window",
    "send_buffer": "the send buffer",
    "application": "the application",
    "network": "the congestion window or pacing",
}
#: Those of the network and the control, which not every backend tells apart.
_NETWORK = {"cwnd", "pacing"}
#: Those that are no reply of the network: the number is so because of them.
_OWN = ("receiver", "send_buffer", "application")
#: Their settings in the scenario.
_SET_BY = {"receiver": "receive_buffer", "send_buffer": "send_buffer"}
#: A limit of less of the time is not told.
_LEAST = 0.05
#: ... and neither is a word of the control for less of it.
_LEAST_WORD = 0.01
#: Window and pacing limit every flow that has enough to send.
_USUAL = 0.2


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each party whose senders tell what limits them."""
    for party in evidence.parties:
        shares = _shares(evidence, party)
        told = [limit for limit, share in shares.items() if share >= _LEAST]
        if not told:
            continue
        first = told[0]
        own = sum(shares.get(limit, 0.0) for limit in _OWN)
        yield Finding(
            "flow",
            party.name,
            max(own, _USUAL * shares[first]),
            f"limited by {_listed(shares, told)}{_in_flight(evidence, party)}"
            f"{_set(evidence, party, first)}{_words(evidence, party)}",
            when=_when(evidence, party, first),
            flows=party.ids,
            numbers={f"{limit}_share": share for limit, share in shares.items()},
        )


def _shares(evidence: Evidence, party: Party) -> dict[str, float]:
    """Of the time, by limit, the largest first. A kernel does not tell window from pacing: both
    are what the others leave.
    """
    shares = {}
    weights = evidence.flow.active_time[party.flows]
    for limit in LIMITS:
        each = evidence.run.values("flow", f"limited_by_{limit}_l4")[party.flows] / 100
        known = ~np.isnan(each) & (weights > 0)
        if known.any():
            shares[limit] = float(np.average(each[known], weights=weights[known]))
    if shares and not _NETWORK & shares.keys():
        shares["network"] = max(0.0, 1 - sum(shares.values()))
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _listed(shares: dict[str, float], told: list[str]) -> str:
    first, *others = told
    listed = [f"{_CALLED[first]} {percent(shares[first])} of the time"]
    return ", ".join([*listed, *(f"{_CALLED[one]} {percent(shares[one])}" for one in others)])


def _when(evidence: Evidence, party: Party, limit: str) -> tuple[float, float] | None:
    """When it limits for half of the time or more."""
    if limit == "network":
        return None
    limited = evidence.over_time(f"limited_by_{limit}", party)
    active = evidence.active(party)
    return evidence.when((active > 0) & (limited >= active / 2))


def _in_flight(evidence: Evidence, party: Party) -> str:
    """How much that keeps in flight of each flow, beside the path's capacity."""
    flying = ratio(evidence.total("in_flight_time", party), evidence.active_time(party))
    bdp = float(evidence.flow.bdp[party.flows].mean())
    if not np.isfinite(flying):
        return ""
    beside = f" (1 BDP is {short(bdp)})" if np.isfinite(bdp) and bdp > 0 else ""
    return f"; {short(float(flying))} segments in flight{beside}"


def _set(evidence: Evidence, party: Party, limit: str) -> str:
    """The setting that makes the limit, if it is one."""
    key = _SET_BY.get(limit)
    value = evidence.settings[party.ids[0]].get(key) if key else None
    return f"; {key} = {value}" if value and value != "auto" else ""


def _words(evidence: Evidence, party: Party) -> str:
    """What the control was in, as it was recorded."""
    for name, shares in evidence.words(party):
        most = [(word, share) for word, share in [*shares.items()][:2] if share >= _LEAST_WORD]
        told = [f"{word} {percent(share)}" for word, share in most]
        return f"; {name} {', '.join(told)}"
    return ""
