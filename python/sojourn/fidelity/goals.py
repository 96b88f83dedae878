"""What a cell is to meet, by its kind; settled before the first campaign was judged by them.

Single flows over FIFOs have no chance in them: each value is the kernel's, nearly. Behind
disciplines that drop early a packet more or less draws other drops, so means over five starts are
compared, less narrowly. Where flows meet, or a path draws for itself, a value may as well lie in
the range that the kernel's own starts span.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sojourn.fidelity.asked import FIFO, Asked
from sojourn.fidelity.draw import Cell
from sojourn.oracles.linux612.goals import GOODPUT, NEAR_FACTOR, NEAR_OFFSET, SRTT

#: Values that are compared and the metrics that measure them.
METRICS = {
    "goodput": "mean_throughput_l4",
    "mean_srtt": "mean_srtt_l4",
    "retrans": "total_retransmissions_l4",
    "completion_s": "flow_completion_time_l4",
}


@dataclass(frozen=True)
class Goal:
    """How near the simulator's mean over the starts is to be to the kernel's."""

    #: The share of the cells that are to meet it.
    share: float
    #: Of values, how far they may be off as a share of the kernel's.
    relative: Mapping[str, float]
    #: Of retransmissions: the larger is at most so many times the smaller, and so many more.
    factor: float
    offset: float
    #: Whether a mean inside the range of the kernel's starts is enough.
    inside: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """Names of what is compared."""
        counted = ("retrans",) if self.factor else ()
        return (*self.relative, *counted)

    def excess(self, value: str, sim: float, kernel: float) -> float:
        """How far they are apart, in times of what is allowed."""
        if value == "retrans":
            low, high = sorted((sim, kernel))
            return (high - low) / (self.factor * low + self.offset - low)
        if sim == kernel:
            return 0.0
        return abs(sim - kernel) / (self.relative[value] * kernel) if kernel else float("inf")


FIFOS = Goal(0.98, {"goodput": GOODPUT, "mean_srtt": SRTT}, NEAR_FACTOR, NEAR_OFFSET)
AQMS = Goal(0.95, {"goodput": 0.01, "mean_srtt": 0.03}, 1.2, 5)
TRANSFERS = Goal(0.95, {"completion_s": 0.02}, 0, 0)
#: What a path that draws is to keep, beside what the kernel's own starts span.
PATHS = replace(AQMS, share=0.9, inside=True)
STEPS = replace(FIFOS, share=0.9)


def goal(asked: Asked, cell: Cell) -> Goal:
    """That of a cell."""
    if asked.kind == "transfer":
        return TRANSFERS
    if asked.kind == "path":
        return STEPS if cell.trouble == "rate-steps" else PATHS
    of_queue = FIFOS if cell.queue == FIFO else AQMS
    return replace(of_queue, share=0.95, inside=True) if asked.flows > 1 else of_queue
