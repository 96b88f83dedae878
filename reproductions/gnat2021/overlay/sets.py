"""Which inelastic and floored flows can be on together: the best of all sets, by enumeration.

A set holds if all its flows are served. Inelastic ones (STRAP) get all of their rate, and no
elastic flow beside them makes a queue deeper than they are worth: ``K p / r`` of the elastic one is
at most that of the inelastic one. Floored ones (FLOG) get their rate, or enough that what their
proxy keeps, 500 packets, is less than a second's worth. The best set has the most priority, then
the most rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from sojourn.quantity import number
from sojourn_reproductions.gnat2021.headers import UDP
from sojourn_reproductions.gnat2021.overlay.oracle import arcs, classes
from sojourn_reproductions.gnat2021.overlay.polytope import Arc, Class, best

#: Served first by the linear program.
_FIRST = 1e6
#: Of a rate: it is served.
_SERVED = 0.999
#: Bits that a proxy keeps, in Mbit: 500 packets of 1,024 bytes and headers.
_KEPT = 500 * 8e-6 * (1_024 + UDP)


def best_set(canonical: Mapping[str, Any], at: float) -> set[str]:
    """Labels of the flows that are on, of those that can be off, at a time."""
    found, utilities = best_shares(canonical, at), _utilities(canonical, at)
    return {label for label, share in found.items() if share and utilities[label] != "log"}


def best_shares(canonical: Mapping[str, Any], at: float) -> dict[str, float]:
    """The goodput of each flow with the best set, Mbit/s, by label; none of those that are off."""
    links, flows, utilities = arcs(canonical, at), classes(canonical, at), _utilities(canonical, at)
    choice = [flow for flow in flows if utilities[flow.label] != "log"]
    elastic = [flow for flow in flows if utilities[flow.label] == "log"]
    subsets = chain.from_iterable(combinations(choice, n) for n in range(len(choice) + 1))
    shares = [(on, _shares(links, on, elastic, utilities)) for on in subsets]
    holding = [(on, found) for on, found in shares if _holds(on, elastic, found, utilities)]
    _, found = max(holding, key=lambda each: (_sum(each[0], "priority"), _sum(each[0], "offered")))
    return {flow.label: found.get(flow.label, 0.0) for flow in flows}


def _utilities(canonical: Mapping[str, Any], at: float) -> dict[str, str]:
    return {
        flow["label"]: flow["service"]["utility"]
        for flow in canonical["flows"]
        if number(flow["start"]) <= at < number(flow["stop"])
    }


def _sum(flows: Sequence[Class], name: str) -> float:
    return sum(flow.count * getattr(flow, name) for flow in flows)


def _shares(
    links: Sequence[Arc],
    on: Sequence[Class],
    elastic: Sequence[Class],
    utilities: Mapping[str, str],
) -> dict[str, float]:
    """What flows get when these are on, inelastic ones first."""
    first = [
        replace(flow, priority=_FIRST) if utilities[flow.label] == "strap" else flow for flow in on
    ]
    return best(links, [*first, *elastic]) if on or elastic else {}


def _holds(
    on: Sequence[Class],
    elastic: Sequence[Class],
    shares: Mapping[str, float],
    utilities: Mapping[str, str],
) -> bool:
    for flow in on:
        share = shares[flow.label]
        kept = utilities[flow.label] == "flog" and share >= _KEPT
        if share < _SERVED * flow.offered and not kept:
            return False
    inelastic = [flow for flow in on if utilities[flow.label] == "strap"]
    worths = [flow.priority / flow.offered for flow in inelastic]
    queues = [
        flow.priority / shares[flow.label]
        for flow in elastic
        if shares[flow.label] < _SERVED * flow.offered
    ]
    return not worths or not queues or max(queues) <= min(worths)
