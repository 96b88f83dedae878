"""Rates over time, as a capture at the ends of LinkEm shows them: frames with their headers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.metrics import RunData
from sojourn.metrics.columns import EPSILON, Values
from sojourn_reproductions.gnat2021.headers import ETHERNET

#: LinkEm's directions among the links, by who sends.
CLIENT, SERVER = 0, 1


@dataclass(frozen=True)
class Series:
    """A quantity in stretches of time of the same length."""

    #: Beginnings and ends of the stretches, s.
    begins: Values
    ends: Values
    values: Values

    def between(self, begin: float, end: float) -> Series:
        """The stretches that lie within."""
        inside = (self.begins >= begin - EPSILON) & (self.ends <= end + EPSILON)
        return Series(self.begins[inside], self.ends[inside], self.values[inside])

    def windows(self, length: float) -> Series:
        """Means over longer stretches of ``length`` seconds."""
        each = round(length / float(self.ends[0] - self.begins[0]))
        whole = len(self.values) // each * each
        means = self.values[:whole].reshape(-1, each).mean(axis=1)
        return Series(self.begins[:whole:each], self.ends[each - 1 : whole : each], means)

    def mean(self, begin: float, end: float) -> float:
        """Its mean between two times."""
        return float(self.between(begin, end).values.mean())

    def least(self, begin: float, end: float) -> float:
        """Its least value between two times."""
        return float(self.between(begin, end).values.min())

    def most(self, begin: float, end: float) -> float:
        """Its largest value between two times."""
        return float(self.between(begin, end).values.max())

    def until(self, level: float, begin: float) -> float | None:
        """Seconds from ``begin`` to the first stretch from then on that reaches ``level``."""
        later = self.between(begin, np.inf)
        found = np.flatnonzero(later.values >= level)
        return float(later.begins[found[0]] - begin) if len(found) else None

    def below(self, level: float, begin: float, end: float) -> float:
        """Seconds between two times in which it is below ``level``."""
        inside = self.between(begin, end)
        low = inside.values < level
        return float((inside.ends - inside.begins)[low].sum())


def sent(run: RunData, by: int = CLIENT) -> Series:
    """What one side sends, Mbit/s, before LinkEm."""
    samples = run.flow.samples
    packets = samples["wire_bytes_sent" if by == CLIENT else "ack_bytes_sent"].sum(axis=1)
    return _rate(run, packets + ETHERNET * run.link.samples["offered_packets"][:, by])


def received(run: RunData, sender: int = CLIENT) -> Series:
    """What arrives of it at the other side, Mbit/s."""
    links = run.link.samples
    frames, lost = links["sent_packets"][:, sender], links["drops_loss"][:, sender]
    arrive = 1 - np.divide(lost, frames, out=np.zeros_like(lost), where=frames > 0)
    return _rate(run, links["sent_bytes"][:, sender] * arrive)


def delivered(run: RunData, flow: int = 0) -> Series:
    """A flow's payload as the receiving application gets it, Mbit/s."""
    return _rate(run, run.flow.samples["delivered_bytes"][:, flow])


def capacity(run: RunData) -> Series:
    """The sender's estimate of the path's capacity, Mbit/s."""
    samples = run.flow.samples
    return Series(samples.begins, samples.ends, 1e-6 * samples["capacity"][:, 0])


def _rate(run: RunData, octets: Values) -> Series:
    samples = run.flow.samples
    length = samples.ends - samples.begins
    return Series(samples.begins, samples.ends, 8e-6 * octets / length)
