"""Why our controls and disciplines part from the kernel's where they do.

A reason holds for the difference that it was found for: another one of the same member is not
explained.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

UNEXPLAINED = "not explained"
#: What a decision says: ``cwnd 142, ssthresh 80``, ``Done { left: Some((0, 7413, NotEct)), ... }``.
_FIELD = re.compile(r"\b([a-z]\w*):? (.+?)(?=, [a-z]\w*:? | \}|$)")


@dataclass(frozen=True)
class Difference:
    """How two part."""

    loop: str
    #: In open loop what came before the first difference, such as ``after an ACK``.
    event: str
    #: What differs then of the decisions, numbers with how much; in closed loop the metrics.
    fields: frozenset[str]
    #: The share of open loop's steps that differ.
    share: float = 0.0

    @classmethod
    def opened(cls, told: str, share: float) -> Difference:
        """Of open loop, as the core tells of the first step that differs."""
        event, _, decisions = told.partition(": ours ")
        ours, theirs = (dict(_FIELD.findall(one)) for one in decisions.partition("; theirs ")[::2])
        fields = (_field(name, ours[name], theirs.get(name, "")) for name in ours)
        return cls("open", event, frozenset(filter(None, fields)), share)


def _field(name: str, ours: str, theirs: str) -> str:
    if ours.isdecimal() and theirs.isdecimal() and ours != theirs:
        return f"{name} by {abs(int(ours) - int(theirs))}"
    return name if ours != theirs else ""


@dataclass(frozen=True)
class _Known:
    scenarios: tuple[str, ...]
    loop: str
    event: str
    fields: frozenset[str]
    #: The greatest share of steps that the reason accounts for.
    most: float
    reason: str

    def accounts_for(self, scenario: str, apart: Difference) -> bool:
        alike = (apart.loop, apart.event, apart.fields) == (self.loop, self.event, self.fields)
        return alike and scenario in self.scenarios and apart.share <= self.most


#: By kind and name; what is not here is not explained.
_REASONS: Mapping[tuple[str, str], _Known] = {
    ("control", "bbr"): _Known(
        ("deep buffer", "timeout", "ECN"),
        "open",
        "after an ACK",
        frozenset({"cwnd by 2"}),  # which the probing phase has on top
        0.0005,
        "a phase that drains ends when what will be in flight at the next departure is little "
        "enough. Ours keeps that departure's time by itself, a segment at a time; the kernel reads "
        "the socket's, which moves by bursts. At the limit the phase ends an ACK sooner or later "
        "(read in both sources, not tried)",
    ),
    ("queue", "cake"): _Known(
        ("overload",),
        "open",
        "at a departure",
        frozenset({"left"}),
        0.001,
        "a flow's quantum is dithered by a byte at random in each of its turns, which decides "
        "whether a full packet uses it up. Ours has drawn three numbers for the keys of its hash "
        "from the stream before; so where two flows are backlogged without end, one of 300 turns "
        "comes a packet sooner or later (read in both sources, not tried)",
    ),
}


def explained(kind: str, name: str, scenario: str, apart: Difference) -> str:
    """The reason of a difference, or that there is none yet."""
    known = _REASONS.get((kind, name))
    return known.reason if known and known.accounts_for(scenario, apart) else UNEXPLAINED
