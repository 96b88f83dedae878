"""A cell's values on both sides, judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import fmean

from sojourn.campaign.cases import Outcome
from sojourn.fidelity.draw import Cell
from sojourn.fidelity.goals import METRICS, Goal
from sojourn.store.rows import Row

COLUMNS = (
    *("cell", "cca", "queue", "metric", "sim", "kernel", "within"),
    *("flow", "path", "rate_mbit", "rtt_ms", "buffer", "starts", "excess"),
    *("sim_low", "sim_high", "kernel_low", "kernel_high", "overlap"),
)
#: Of each start; ``None`` where it is undefined: a transfer that has not ended.
Values = Sequence[float | None]


@dataclass(frozen=True)
class Value:
    """One metric of one flow over all starts of a cell."""

    cell: Cell
    goal: Goal
    flow: int
    metric: str
    sim: Values
    kernel: Values

    @property
    def excess(self) -> float:
        """How far the means are apart, in times of what is allowed; infinite where a value is
        undefined on one side only.
        """
        undefined = [[value is None for value in side] for side in (self.sim, self.kernel)]
        if undefined[0] != undefined[1]:
            return inf
        sim, kernel = _mean(self.sim), _mean(self.kernel)
        if sim is None or kernel is None:
            return 0.0
        return self.goal.excess(self.metric, sim, kernel)

    @property
    def is_within(self) -> bool:
        """Whether its goal is met."""
        return self.excess <= 1 or (self.goal.inside and self._is_inside())

    @property
    def overlaps(self) -> bool | None:
        """Whether the ranges of the starts share a value; ``None`` of a single start."""
        sim, kernel = _range(self.sim), _range(self.kernel)
        if len(self.sim) < 2 or sim is None or kernel is None:
            return None
        return sim[0] <= kernel[1] and kernel[0] <= sim[1]

    def furthest(self) -> int:
        """The number of the start in which both sides are furthest apart."""
        pairs = list(zip(self.sim, self.kernel, strict=True))

        def apart(number: int) -> float:
            sim, kernel = pairs[number]
            if sim is None or kernel is None:
                return 0.0 if sim == kernel else inf
            return self.goal.excess(self.metric, sim, kernel)

        return max(range(len(pairs)), key=apart)

    def row(self) -> Row:
        """By the names of :data:`COLUMNS`: Mbit/s, ms, s; means, and ranges of several starts."""
        cell = self.cell
        row: Row = {
            "cell": cell.name,
            "cca": cell.controls[self.flow],
            "queue": cell.queue,
            "metric": self.metric,
            "sim": _mean(self.sim),
            "kernel": _mean(self.kernel),
            "within": self.is_within,
            "flow": self.flow,
            "path": cell.trouble,
            "rate_mbit": cell.rate_mbit,
            "rtt_ms": cell.rtt_ms,
            "buffer": cell.buffer,
            "starts": len(cell.starts),
            "excess": self.excess if isfinite(self.excess) else None,
            "overlap": self.overlaps,
        }
        if len(cell.starts) > 1:
            for name, side in (("sim", self.sim), ("kernel", self.kernel)):
                row[f"{name}_low"], row[f"{name}_high"] = _range(side) or (None, None)
        return row

    def _is_inside(self) -> bool:
        sim, kernel = _mean(self.sim), _range(self.kernel)
        return sim is not None and kernel is not None and kernel[0] <= sim <= kernel[1]


@dataclass(frozen=True)
class Judged:
    """A cell."""

    cell: Cell
    goal: Goal
    values: Sequence[Value]

    @property
    def is_within(self) -> bool:
        """Whether all that is compared of all its flows is."""
        return all(value.is_within for value in self.values)

    @property
    def overlaps(self) -> bool | None:
        """Whether all ranges do; ``None`` of a single start."""
        told = [value.overlaps for value in self.values if value.overlaps is not None]
        return all(told) if told else None

    @property
    def worst(self) -> Value:
        """The value that misses by most; if none misses, that which is furthest off."""
        return max(self.values, key=lambda value: (not value.is_within, value.excess))


def judged(cell: Cell, goal: Goal, sim: Sequence[Outcome], kernel: Sequence[Outcome]) -> Judged:
    """A cell with what its starts came to, on both sides in the same order."""
    return Judged(cell, goal, list(_values(cell, goal, sim, kernel)))


def _values(
    cell: Cell, goal: Goal, sim: Sequence[Outcome], kernel: Sequence[Outcome]
) -> Iterator[Value]:
    for flow in range(len(cell.controls)):
        for metric in goal.values:
            sides = [_of(metric, flow, runs) for runs in (sim, kernel)]
            yield Value(cell, goal, flow, metric, *sides)


def _of(metric: str, flow: int, runs: Sequence[Outcome]) -> Values:
    return [run["flows"][flow]["metrics"][METRICS[metric]] for run in runs]


def _mean(values: Values) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _range(values: Values) -> tuple[float, float] | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None
