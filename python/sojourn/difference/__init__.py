"""The first packet at which two runs or captures part, and what both knew at that instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from sojourn.difference.parting import Parting, first
from sojourn.difference.sides import Side, side, sides
from sojourn.difference.told import Known, known

if TYPE_CHECKING:
    from sojourn.json_types import Fields

__all__ = ["Difference", "Known", "Side", "difference", "side", "sides"]

#: What times may differ by where they were measured, s.
_MEASURED = 1e-6


class Told(TypedDict):
    """A difference as ``sojourn diff --format json`` prints it."""

    time: float
    flow: int
    index: int
    link: str
    event: str
    a: Fields | None
    b: Fields | None
    known: list[Known]


@dataclass(frozen=True)
class Difference:
    """The first event of a packet that is not the same in two runs."""

    parting: Parting
    #: What was known then; what differs comes first.
    known: list[Known]

    def to_json(self) -> Told:
        """The same for programs: seconds, bytes; ``None`` for a side that has no such event."""
        parting = self.parting
        return {
            "time": parting.time,
            "flow": parting.flow,
            "index": parting.index,
            "link": parting.link,
            "event": parting.event,
            "a": parting.a,
            "b": parting.b,
            "known": self.known,
        }


def difference(a: Side, b: Side, tolerance: float | None = None) -> Difference | None:
    """The first event that differs, while both runs last; ``None`` where they are the same.

    Events are compared in their order at each link, of each flow and kind: the packet's index and
    size, the reason, what the headers of captured packets tell, and the time to ``tolerance``
    seconds, by default none where both runs are simulated, or both are of kernels in virtual time,
    and a microsecond elsewhere.
    """
    if tolerance is None:
        tolerance = 0.0 if a.clock and a.clock == b.clock else _MEASURED
    parting = first(a.rows, b.rows, min(a.end, b.end), tolerance)
    return Difference(parting, known(a, b, parting)) if parting else None
