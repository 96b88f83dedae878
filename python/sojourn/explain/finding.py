"""What a cause has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, TypedDict

from sojourn.numbers import number

Scope = Literal["flow", "link", "net"]
#: From when to when, in seconds of the run.
Stretch = tuple[float, float]


class Told(TypedDict):
    """A finding as JSON has it."""

    cause: str
    scope: Scope
    #: Who it is of, as a person reads it.
    of: str
    #: The numbers of the flows that it is of, if it is of flows.
    flows: list[int]
    begin: float | None
    end: float | None
    weight: float
    measured: str
    inferred: str | None
    numbers: dict[str, float | None]


@dataclass(frozen=True)
class Finding:
    """One thing that explains numbers of a run."""

    scope: Scope
    #: Who it is of: ``flow 0 bbr``, ``link bottleneck``, ``all flows``.
    of: str
    #: From 0 to 1: how much there is to it beside the others.
    weight: float
    #: What was measured, in words.
    text: str
    #: What follows from that by a rule that may be wrong of this run; empty for nothing.
    inferred: str = ""
    #: When for the most part; ``None`` for all the time or no time that can be told.
    when: Stretch | None = None
    flows: Sequence[int] = ()
    #: What the words have, at full precision; the unit is at the end of each name.
    numbers: Mapping[str, float] = field(default_factory=dict)
    #: The file that found it.
    cause: str = ""

    def line(self) -> str:
        """The finding in one line."""
        return f"{self.cause}: {self.words()}"

    def words(self) -> str:
        """Who it is of, when, and what."""
        when = f", {span(self.when)}" if self.when else ""
        guess = f"; inferred: {self.inferred}" if self.inferred else ""
        return f"{self.of}{when}: {self.text}{guess}"

    def to_json(self) -> Told:
        """The same for programs; what is undefined is ``None``."""
        begin, end = self.when or (None, None)
        known = {name: float(value) for name, value in self.numbers.items()}
        return {
            "cause": self.cause,
            "scope": self.scope,
            "of": self.of,
            "flows": [int(flow) for flow in self.flows],
            "begin": begin,
            "end": end,
            "weight": round(self.weight, 4),
            "measured": self.text,
            "inferred": self.inferred or None,
            "numbers": {name: v if isfinite(v) else None for name, v in known.items()},
        }


def span(when: Stretch) -> str:
    """From when to when, as a person reads it."""
    begin, end = (f"{second:.1f}".removesuffix(".0") for second in when)
    return f"{begin}-{end} s" if begin != end else f"{begin} s"


def short(value: float) -> str:
    """Three digits are enough in a sentence."""
    if not isfinite(value) or (value and not 1e-3 <= abs(value) < 1e6):
        return number(float(value))
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share as a percentage of two digits."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
