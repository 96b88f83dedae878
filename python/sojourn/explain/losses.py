"""Where packets were lost and why, whose they were, and what their repair took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, percent, short
from sojourn.explain.party import Party
from sojourn.explain.stretches import middle_half
from sojourn.metrics.columns import ratio
from sojourn.quantity import number


class _Reason(NamedTuple):
    """Why links drop packets."""

    column: str
    told: str
    #: Reasons of recorded packets that the column counts.
    recorded: tuple[str, ...]
    #: The share of packets at which the weight is a half: less where senders have no say.
    half: float


_REASONS = (
    _Reason("drops_overflow", "dropped by a full queue", ("overflow",), 0.01),
    _Reason("drops_aqm", "dropped by the queue discipline's control law", ("aqm",), 0.01),
    _Reason("drops_policed", "dropped by a policer or shaper", ("policed",), 0.003),
    _Reason(
        "drops_loss", "lost on the link, whatever the load",
        ("loss", "burst_loss", "outage", "listed"), 0.003,
    ),
)  # fmt: skip
#: A queue that held less than this part of a bandwidth-delay product is short.
_SHORT = 0.25
#: Of all drops, from which on the senders' losses are taken for those of one link.
_NEARLY_ALL = 0.9
#: Loss recovery is told from this share of the time on.
_RECOVERY = 0.1
#: The weight of a timeout of each flow.
_TIMEOUT = 0.05


def find(evidence: Evidence) -> Iterator[Finding]:
    """A finding for each link and reason, then one for each party that took long to recover."""
    drops = {reason.column: evidence.link.total(reason.column) for reason in _REASONS}
    everywhere = float(sum(of.sum() for of in drops.values()))
    for link in range(len(evidence.links)):
        here = float(sum(of[link] for of in drops.values()))
        for reason in _REASONS:
            count = float(drops[reason.column][link])
            if count > 0:
                alone = count >= _NEARLY_ALL * everywhere
                yield _of_link(evidence, link, reason, count, count / here, alone=alone)
    yield from _recoveries(evidence)


def _of_link(
    evidence: Evidence, link: int, reason: _Reason, count: float, part: float, *, alone: bool
) -> Finding:
    offered = float(evidence.link.total("offered_packets")[link])
    share = float(ratio(count, offered))
    unused = evidence.unused(link)
    weight = max(share / (share + reason.half), part * unused)
    whose, known = _whose(evidence, link, reason, alone=alone)
    guesses = [_short_buffer(evidence, link) if reason.column == "drops_overflow" else ""]
    guesses += [] if known else [whose]
    samples = evidence.link.samples
    counts = np.where(evidence.link.counted, samples[reason.column][:, link], 0.0)
    free = f"; {percent(unused)} of its rate stays free" if unused >= 0.02 else ""
    text = (
        f"{count:,.0f} of {offered:,.0f} packets ({percent(share)}) {reason.told}"
        f"{_set(evidence, link, reason)}{whose if known else ''}{free}"
    )
    return Finding(
        "link",
        f"link {evidence.links[link]}",
        weight,
        text,
        "; ".join(filter(None, guesses)),
        middle_half(counts, samples.begins, samples.ends),
        numbers={"drops": count, "offered_packets": offered, "share": share, "unused": unused},
    )


def _set(evidence: Evidence, link: int, reason: _Reason) -> str:
    """The setting of the link that drops them."""
    settings = evidence.link_settings(link)
    if reason.column == "drops_policed":
        bucket = settings.get("policer") or settings.get("shaper") or {}
        return f" of {bucket['rate']} with bursts of {bucket['burst']}" if bucket else ""
    if reason.column == "drops_loss":
        loss = settings.get("loss")
        return f" (loss = {loss})" if loss and loss != "0 %" else ""
    queue = settings.get("queue") or {}
    limit = f" of {queue['limit']}" if queue.get("limit") else ""
    return f" ({queue['kind']}{limit})" if queue else ""


def _whose(evidence: Evidence, link: int, reason: _Reason, *, alone: bool) -> tuple[str, bool]:
    """Whose packets they were, and whether that was recorded."""
    rows = evidence.dropped
    if rows is not None:
        here = pl.col("link") == evidence.links[link]
        rows = rows.filter(here & pl.col("reason").is_in([*reason.recorded]))
        kinds = [kind for kind in reason.recorded if kind in rows["reason"]]
        named = f" ({', '.join(kinds)})" if kinds not in ([], [*reason.recorded[:1]]) else ""
        whose = _parts(evidence.by_party(rows, "count"))
        return f"{named}{f'; {whose}' if whose else ''}", True
    marked = {party.name: evidence.total("lost", party) for party in evidence.crossing(link)}
    if not alone or evidence.come_and_go or any(np.isnan(v) for v in marked.values()):
        return "", False
    ordered = dict(sorted(marked.items(), key=lambda item: -item[1]))
    told = _parts(ordered)
    return (f"{told} (by the losses that senders saw)" if told else ""), False


def _parts(counts: dict[str, float]) -> str:
    """The shares of the two that have most; nothing of one alone."""
    whole = sum(counts.values())
    if len(counts) < 2 or whole <= 0:
        return ""
    told = [f"{name}'s are {percent(n / whole)}" for name, n in [*counts.items()][:2] if n > 0]
    return ", ".join(told)


def _short_buffer(evidence: Evidence, link: int) -> str:
    """That the queue is too short for the flows over it, if it seems so."""
    crossing = [flow for party in evidence.crossing(link) for flow in party.ids]
    mine = [flow for flow in crossing if evidence.flow.bottlenecks[flow] == link]
    bdp = min((float(evidence.flow.bdp[flow]) for flow in mine), default=np.nan)
    limit = (evidence.link_settings(link).get("queue") or {}).get("limit") or ""
    samples = evidence.link.samples["queue_packets"][evidence.link.counted, link]
    held = number(limit) if limit.endswith(" packets") else samples.max(initial=0.0)
    if not held < _SHORT * bdp:
        return ""
    return f"the queue is too short for bursts: it held {held:.0f} packets at most, 1 BDP is " + (
        short(bdp)
    )


def _recoveries(evidence: Evidence) -> Iterator[Finding]:
    """What losses cost each party: timeouts and time in recovery."""
    for party in evidence.parties:
        rtos = evidence.total("rtos", party)
        share = float(ratio(evidence.total("recovery_time", party), evidence.active_time(party)))
        if rtos > 0 or share > _RECOVERY:
            yield _recovery(evidence, party, rtos, share)


def _recovery(evidence: Evidence, party: Party, rtos: float, share: float) -> Finding:
    lost, sent = evidence.total("lost", party), evidence.total("sent_packets", party)
    needless = evidence.total("spurious_retransmissions", party)
    told = []
    if rtos > 0:
        told.append(f"{rtos:,.0f} retransmission timeout{'s' * (rtos > 1)}")
    if np.isfinite(share):
        told.append(f"in loss recovery {percent(share)} of the time")
    if lost > 0:
        told.append(f"{lost:,.0f} segments taken for lost ({percent(lost / sent)} of those sent)")
    if needless > 0:
        told.append(f"{needless:,.0f} resent needlessly")
    samples, each = evidence.flow.samples, len(party.flows)
    counts = evidence.over_time("rtos" if rtos > 0 else "recovery_time", party)
    return Finding(
        "flow",
        party.name,
        float(min(1.0, max(np.nan_to_num(share), _TIMEOUT * np.nan_to_num(rtos) / each))),
        ", ".join(told),
        when=middle_half(counts, samples.begins, samples.ends),
        flows=party.ids,
        numbers={"timeouts": rtos, "recovery_share": share, "lost": lost, "needless": needless},
    )
