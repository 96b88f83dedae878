"""How long rates take to be what they are later, and how steady they are then."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sojourn.explain.evidence import Evidence
from sojourn.explain.finding import Finding, percent, short
from sojourn.explain.party import Party
from sojourn.explain.stretches import smoothed
from sojourn.metrics.columns import Values
from sojourn.metrics.convergence_of_fairness import convergence_time_jain
from sojourn.metrics.fairness import jain, of_means

#: Rates are means over a second, or over so much of a shorter run.
_WINDOW, _PART = 1.0, 0.02
#: A flow has risen when it first has this part of its later rate.
_RISEN = 0.8
#: A rise over less of the time, a swing of less of the rate is not told.
_LEAST_RISE, _LEAST_SWING = 0.1, 0.25
#: What settles late matters less than what limits, delays or starves.
_RISE, _SWING, _EVEN = 0.6, 0.5, 0.8
#: Sharing is even from this index on; sooner than this part of the time it is not told.
_FAIR, _SOON = 0.95, 0.05


def find(evidence: Evidence) -> Iterator[Finding]:
    """Whether shares become even, then how each party rises and swings."""
    yield from _evenness(evidence)
    for party in evidence.parties:
        if evidence.flow.network_limited[party.flows].all():
            yield from _rise_and_swing(evidence, party)


def _evenness(evidence: Evidence) -> Iterator[Finding]:
    view, data = evidence.flow, evidence.run.data
    if view.count < 2 or not view.network_limited.all():
        return
    entry = float(np.maximum(view.start, data.warmup).max())
    left = float(view.samples.ends[-1]) - entry
    index, after = of_means(data, jain), convergence_time_jain(data)
    numbers = {"jains_index_of_means": index, "even_after_s": after, "last_entry_s": entry}
    whole = (entry, entry + left)
    if np.isnan(after) and left > 0:
        text = (
            f"bytes since the last flow began never become even: Jain's index {short(index)} of "
            f"mean rates ({_FAIR} is even)"
        )
        yield Finding("net", "all flows", _EVEN * (1 - index), text, when=whole, numbers=numbers)
    elif after > _SOON * left:
        text = (
            f"bytes since the last flow began are even (Jain's index {_FAIR}) {short(after)} s on"
        )
        when = (entry, entry + after)
        yield Finding("net", "all flows", _EVEN * after / left, text, when=when, numbers=numbers)


def _rise_and_swing(evidence: Evidence, party: Party) -> Iterator[Finding]:
    ends, rates = _rates(evidence, party)
    if not len(rates):
        return
    active = evidence.active(party) > 0
    begin = float(evidence.flow.samples.begins[active][0])
    whole = float(evidence.flow.samples.ends[active][-1]) - begin
    later = rates[ends >= begin + whole / 2]
    mean, deviation = float(later.mean()), float(later.std())
    if mean <= 0:
        return
    risen = float(ends[np.argmax(rates >= _RISEN * mean)]) - begin
    window = max(_WINDOW, _PART * whole)
    if risen > window + _LEAST_RISE * whole:
        text = (
            f"takes {short(risen)} s to {percent(_RISEN)} of its rate in the second half of its "
            f"time, {short(mean)} Mbit/s"
        )
        yield Finding(
            "flow", party.name, _RISE * risen / whole, text, when=(begin, begin + risen),
            flows=party.ids, numbers={"rise_s": risen, "later_rate_mbit_s": mean},
        )  # fmt: skip
    if deviation > _LEAST_SWING * mean:
        text = (
            f"does not settle: its rate over {short(window)} s deviates by "
            f"{percent(deviation / mean)} from its mean of {short(mean)} Mbit/s"
        )
        yield Finding(
            "flow", party.name, _SWING * min(1.0, deviation / mean), text,
            when=(begin + whole / 2, begin + whole), flows=party.ids,
            numbers={"deviation_share": deviation / mean, "later_rate_mbit_s": mean},
        )  # fmt: skip


def _rates(evidence: Evidence, party: Party) -> tuple[Values, Values]:
    """Ends of windows (s), and the rate in each: all flows together, Mbit/s."""
    view = evidence.flow
    active = evidence.active(party) > 0
    lengths = (view.samples.ends - view.samples.begins)[active]
    if len(lengths) < 4:
        return np.empty(0), np.empty(0)
    window = max(_WINDOW, _PART * float(lengths.sum()))
    count = min(max(1, round(window / float(np.median(lengths)))), len(lengths) // 4)
    delivered = evidence.over_time("delivered_bytes", party)[active]
    rates = smoothed(delivered, count) / smoothed(lengths, count)
    return view.samples.ends[active][count - 1 :], 8e-6 * rates
