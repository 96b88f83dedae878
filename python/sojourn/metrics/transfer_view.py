"""The transfers of a run that came and went: its cohort by label and by size.

The cohort are the transfers that arrive after the warm-up, whatever becomes of them. Those that are
not finished as the run ends count with their age: left out, they would make the slowest ones
vanish from every mean and quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sojourn.metrics.columns import EPSILON, Column, Samples, Values, rate_of
from sojourn.metrics.recorded import Recorded
from sojourn.quantity import number

#: Ends of the bins of sizes, in bytes.
DECADES: Sequence[int] = tuple(10**power for power in range(16))
#: What is told of completion times and slowdowns: the share below a quantile, ``None`` of the mean.
STATISTICS: dict[str, float | None] = {
    "mean": None,
    "p50": 0.5,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
}
#: What each transfer has a value of.
QUANTITIES = ("fct", "slowdown")
FINISHED, LIVE, FAILED = range(3)


class Member(NamedTuple):
    """The transfers of an entry of the scenario, or those of them whose sizes are in a bin."""

    #: Which entry.
    entry: int
    label: str
    #: From so many bytes to below so many; ``None`` for all.
    sizes: tuple[int, int] | None = None

    @property
    def id(self) -> str:
        """Its name among all members."""
        return f"{self.label} {sizes_text(self.sizes)}" if self.sizes else self.label


class TransferView:
    """Completion times and slowdowns by member; loads by entry."""

    def __init__(self, run: Recorded, edges: Sequence[int]) -> None:
        """``edges`` are the ends of the bins of sizes in bytes, rising."""
        self._run = run
        self._entries = run.scenario.get("arrivals") or []
        self._edges = np.asarray(edges)
        self._statistics: dict[str, Values] = {}

    @cached_property
    def end(self) -> float:
        """When the run ends, s."""
        return number(self._run.scenario["duration"])

    @cached_property
    def members(self) -> Sequence[Member]:
        """Each entry, followed by those of its bins that have transfers."""
        found = []
        for entry, declared in enumerate(self._entries):
            label = str(declared["label"])
            found.append(Member(entry, label))
            counts = self._counts[entry * self._bins : (entry + 1) * self._bins - 1]
            ends = [
                (int(self._edges[at]), int(self._edges[at + 1])) for at in np.flatnonzero(counts)
            ]
            found += [Member(entry, label, sizes) for sizes in ends]
        return found

    @property
    def _bins(self) -> int:
        """Of an entry: its bins, and at last what is in none."""
        return len(self._edges)

    def _column(self, name: str) -> Column:
        """Of the table of transfers; empty where none arrive."""
        return np.asarray(self._run.tables["transfers"][name] if self._entries else np.arange(0))

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """Of each transfer the bin among those of all entries; -1 outside the cohort."""
        bins = np.searchsorted(self._edges, self._column("size"), side="right") - 1
        bins[bins < 0] = self._bins - 1
        places = self._column("arrivals") * self._bins + bins
        places[self._column("arrival") < self._run.warmup - EPSILON] = -1
        return places.astype(np.int32)

    @cached_property
    def _counts(self) -> NDArray[np.intp]:
        cohort = self._places[self._places >= 0]
        return np.bincount(cohort, minlength=len(self._entries) * self._bins)

    def which(self, member: Member) -> NDArray[np.bool_]:
        """Which rows of the table of transfers are a member's."""
        first = member.entry * self._bins
        if member.sizes is None:
            return (self._places >= first) & (self._places < first + self._bins)
        at = int(np.searchsorted(self._edges, member.sizes[0]))
        return np.asarray(self._places == first + at)

    def values(self, quantity: str) -> Values:
        """Of each row: ``fct`` from arrival to completion (s), or ``slowdown``; of those that are
        not finished at least so much.
        """
        if quantity == "slowdown":
            return self._column("slowdown").astype(float)
        finished = self._column("outcome") == FINISHED
        until: Values = np.where(finished, self._column("completed"), self.end)
        return until - self._column("arrival").astype(float)

    def in_order(self, member: Member, quantity: str) -> Values:
        """A member's values in the order of arrival."""
        mine = self.which(member)
        order = np.argsort(self._column("arrival")[mine], kind="stable")
        return self.values(quantity)[mine][order]

    def statistic(self, quantity: str, name: str) -> Values:
        """One of :data:`STATISTICS` of each member."""
        if quantity not in self._statistics:
            values = self.values(quantity)
            every = [_summary(values[self.which(member)]) for member in self.members]
            self._statistics[quantity] = np.array(every).reshape(-1, len(STATISTICS))
        return self._statistics[quantity][:, list(STATISTICS).index(name)]

    def counts(self, outcomes: Sequence[int] = (FINISHED, LIVE, FAILED)) -> Values:
        """Transfers of each member of which this became."""
        among = np.isin(self._column("outcome"), outcomes)
        return np.array([among[self.which(member)].sum() for member in self.members], dtype=float)

    def of_entries(self, values: Values) -> Values:
        """A value of each entry as one of each member: NaN of bins."""
        return np.array([np.nan if m.sizes else values[m.entry] for m in self.members], dtype=float)

    @cached_property
    def windows(self) -> Values:
        """From when to when each entry's cohort arrives, s: one row per entry."""
        ends = [
            (
                max(number(entry.get("start") or "0 s"), self._run.warmup),
                number(entry["stop"]) if entry.get("stop") else self.end,
            )
            for entry in self._entries
        ]
        return np.array(ends, dtype=float).reshape(-1, 2)

    def offered_bytes(self) -> Values:
        """Payload of each entry's cohort."""
        cohort = self._places >= 0
        entries = self._places[cohort] // self._bins
        sizes = self._column("size")[cohort]
        return np.bincount(entries, sizes, len(self._entries)).astype(float)

    def rates(self) -> Values:
        """Rate of the link to which each entry's load refers, bit/s; NaN where there is none."""
        network = self._run.network
        links = [told["link"] for told in network["arrivals"]]
        rates = [np.nan if at is None else rate_of(network["links"][at]) for at in links]
        return np.where(np.isinf(rates), np.nan, rates)

    def on_the_wire(self) -> Values:
        """Bytes on that link for each byte of payload, by the means of the sizes."""
        told = self._run.network["arrivals"]
        return np.array([one["wire_bytes"] / one["mean_size"] for one in told], dtype=float)

    @cached_property
    def _samples(self) -> Samples:
        return Samples(self._run.tables["arrival_samples"], len(self._entries))

    def growth(self, column: str) -> Values:
        """What a counter of each entry grew by per second while the cohort arrived; NaN without
        two samples.
        """
        times = np.concatenate([[0.0], self._samples.ends])
        counts = np.vstack([np.zeros(len(self._entries)), self._samples[column]])
        found = np.full(len(self._entries), np.nan)
        for entry, (begin, end) in enumerate(self.windows):
            at = np.flatnonzero((times >= begin - EPSILON) & (times <= end + EPSILON))
            if len(at) > 1:
                grown = counts[at[-1], entry] - counts[at[0], entry]
                found[entry] = grown / (times[at[-1]] - times[at[0]])
        return found

    def levels(self, column: str, entry: int) -> Values:
        """A count of an entry at the samples while its cohort arrived."""
        begin, end = self.windows[entry]
        times = self._samples.ends
        return self._samples[column][(times > begin - EPSILON) & (times <= end + EPSILON), entry]


def _summary(values: Values) -> list[float]:
    """The statistics of values; NaN where they are too few to tell."""
    known = values[~np.isnan(values)]
    shares = [share for share in STATISTICS.values() if share is not None]
    if not len(known):
        return [np.nan] * len(STATISTICS)
    quantiles = np.quantile(known, shares)
    few = [len(known) < least(share) for share in shares]
    return [float(known.mean()), *np.where(few, np.nan, quantiles).tolist()]


def least(share: float) -> int:
    """Of so many values one is expected beyond a quantile: fewer do not tell it."""
    return round(1 / (1 - share))


def size_text(size: float) -> str:
    """A size in the largest unit of which it has one or more."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def sizes_text(sizes: tuple[int, int]) -> str:
    """A bin of sizes, as in ``10 kB-100 kB``."""
    return "-".join(map(size_text, sizes))
