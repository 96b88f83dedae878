"""A run's columns arranged for metrics: one matrix [interval, flow or link] per column.

Which intervals count:

* An interval counts when it begins at or after the warm-up.
* A flow's intervals are those that overlap its active time, from ``max(start, warmup)`` to its
  ``stop`` or, if it completed its transfer earlier, to its completion. ``span`` is the overlap.
* Metrics of single samples (variation, utilities, fairness) use the *regular* samples, those
  whose overlap is at least half of the interval, so that a sliver of a sample is not a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.metrics.registry import Values
from sojourn.quantity import number
from sojourn.scenario import expanded_flows

Table = Mapping[str, Any]
#: IPv4 and TCP headers with timestamps, bytes.
HEADERS = 52
#: Traffic models whose flows end of themselves.
BOUNDED_TRAFFIC = frozenset({"sized"})
# Interval ends are whole nanoseconds written as seconds: compare with a tenth of one to spare.
_EPSILON = 1e-10


def ratio(numerator: Any, denominator: Any) -> Values:
    """``numerator / denominator``, NaN where the denominator is zero."""
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    )
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def mean(samples: Values) -> Values:
    """Mean over the first axis, NaN left out; NaN where nothing is left."""
    known = ~np.isnan(samples)
    return ratio(np.where(known, samples, 0.0).sum(axis=0), known.sum(axis=0))


def deviation(samples: Values) -> Values:
    """Population standard deviation over the first axis, NaN left out."""
    return np.sqrt(mean((samples - mean(samples)) ** 2))


def _rate(link: Mapping[str, Any]) -> float:
    """A link's rate in bit/s, infinite if it has none."""
    return number(link["rate"]) if link["rate"] else np.inf


class Samples:
    """The columns of one table as matrices [interval, member]."""

    def __init__(self, table: Table, members: int) -> None:
        self._table = table
        self._members = members
        ends = np.asarray(table["time"], dtype=float).reshape(-1, members) if members else None
        self.ends: Values = ends[:, 0] if ends is not None else np.empty(0)
        self.begins: Values = (
            np.concatenate([[0.0], self.ends[:-1]]) if len(self.ends) else self.ends
        )
        self._matrices: dict[str, Values] = {}

    def __getitem__(self, column: str) -> Values:
        """The column as a matrix [interval, member] of doubles."""
        if column not in self._matrices:
            values = np.asarray(self._table[column], dtype=float)
            self._matrices[column] = values.reshape(-1, self._members)
        return self._matrices[column]


@dataclass
class RunData:
    """Everything metrics may look at."""

    #: The canonical scenario.
    scenario: Mapping[str, Any]
    #: Columns as the core hands them out.
    tables: Mapping[str, Table]
    #: What was built: ``links`` (id, rate, overhead) and ``paths``, each flow's links by index.
    network: Mapping[str, Any]
    #: Runs with one flow only, in the order of the flows; made when a metric asks for them.
    alone: Callable[[], Sequence[RunData]] = field(default=lambda: ())

    @cached_property
    def flow(self) -> FlowView:
        """The flows' side of the run."""
        return FlowView(self)

    @cached_property
    def link(self) -> LinkView:
        """The links' side of the run."""
        return LinkView(self)

    @cached_property
    def warmup(self) -> float:
        """Seconds at the beginning that no metric covers."""
        return number(self.scenario["warmup"])


class FlowView:
    """Samples of the flows, restricted to each flow's active time."""

    def __init__(self, run: RunData) -> None:
        self.table = {name: np.asarray(column) for name, column in run.tables["flows"].items()}
        self.count = len(self.table["flow"])
        self.samples = Samples(run.tables["flow_samples"], self.count)
        self._run = run
        begins, ends = self.samples.begins[:, None], self.samples.ends[:, None]
        overlap = np.minimum(ends, self.end) - np.maximum(begins, self.start)
        counted = (begins >= run.warmup - _EPSILON) & (overlap > _EPSILON)
        self.span: Values = np.where(counted, overlap, 0.0)
        self.length: Values = self.samples.ends - self.samples.begins
        self.regular = self.span >= self.length[:, None] / 2

    @property
    def start(self) -> Values:
        """When each flow sends its SYN, s."""
        return self.table["start"].astype(float)

    @cached_property
    def end(self) -> Values:
        """When each flow stops or has completed, whichever comes first, s."""
        return np.fmin(self.table["stop"].astype(float), self.table["completed_at"].astype(float))

    @cached_property
    def active_time(self) -> Values:
        """Seconds that the metrics of each flow cover."""
        return self.span.sum(axis=0)

    @cached_property
    def mss(self) -> Values:
        """Payload bytes of a full segment."""
        return self.table["mss"].astype(float)

    @cached_property
    def base_rtt(self) -> Values:
        """Configured round-trip time without queueing or serialisation, s."""
        return self.table["base_rtt"].astype(float)

    @cached_property
    def _bottlenecks(self) -> list[Mapping[str, Any]]:
        """The slowest link on each flow's way; a link without rate where there is none."""
        links = self._run.network["links"]
        unlimited = {"rate": None, "overhead": None}
        ways = ([links[i] for i in path] for path in self._run.network["paths"])
        return [min(way, key=_rate, default=unlimited) for way in ways]

    @cached_property
    def bottleneck_rate(self) -> Values:
        """Rate of the slowest link on each flow's way, bit/s; NaN if all are unlimited."""
        rates = np.array([_rate(link) for link in self._bottlenecks])
        return np.where(np.isinf(rates), np.nan, rates)

    @cached_property
    def wire_size(self) -> Values:
        """Bytes of a full packet as the bottleneck counts them."""
        overhead = [link["overhead"] for link in self._bottlenecks]
        return self.mss + HEADERS + np.array([number(o) if o else 0.0 for o in overhead])

    @cached_property
    def bdp(self) -> Values:
        """Bottleneck rate x base RTT in full-sized packets."""
        return self.bottleneck_rate * self.base_rtt / (8 * self.wire_size)

    @cached_property
    def bdp_goodput(self) -> Values:
        """The payload's share of the bottleneck rate x base RTT in full-sized packets."""
        return self.bdp * self.mss / self.wire_size

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Whether each flow has a last byte."""
        kinds = [flow["traffic"]["kind"] for flow in expanded_flows(self._run.scenario)]
        return np.array([kind in BOUNDED_TRAFFIC for kind in kinds], dtype=bool)

    def counted(self, column: str) -> Values:
        """The column where the flow is active, zero elsewhere."""
        return np.where(self.span > 0, self.samples[column], 0.0)

    def total(self, column: str) -> Values:
        """Sum of a counter over each flow's active time."""
        return self.counted(column).sum(axis=0)

    def where_regular(self, values: Values) -> Values:
        """The values at regular samples, NaN elsewhere."""
        return np.where(self.regular, values, np.nan)

    def rate(self, column: str) -> Values:
        """A byte counter as Mbit/s per regular sample."""
        return self.where_regular(ratio(self.samples[column] * 8e-6, self.span))

    def mean_rate(self, column: str) -> Values:
        """A byte counter as Mbit/s over the active time."""
        return ratio(self.total(column) * 8e-6, self.active_time)

    @cached_property
    def throughput(self) -> Values:
        """Unique payload delivered, Mbit/s per regular sample."""
        return self.rate("delivered_bytes")

    @cached_property
    def positive_throughput(self) -> Values:
        """Throughput without the empty samples, for logarithms and reciprocals."""
        return np.where(self.throughput > 0, self.throughput, np.nan)

    @cached_property
    def srtt(self) -> Values:
        """Time-weighted mean sRTT per sample, s; NaN where unknown."""
        return self.where_regular(ratio(self.samples["srtt_time"], self.samples["srtt_known"]))


class LinkView:
    """Samples of the links after the warm-up."""

    def __init__(self, run: RunData) -> None:
        self.table = {name: np.asarray(column) for name, column in run.tables["links"].items()}
        rates = np.array([_rate(link) for link in run.network["links"]])
        #: bit/s, NaN for a link without a rate.
        self.rate: Values = np.where(np.isinf(rates), np.nan, rates)
        self.samples = Samples(run.tables["link_samples"], len(self.table["link"]))
        self.counted = self.samples.begins >= run.warmup - _EPSILON
        self.time = float((self.samples.ends - self.samples.begins)[self.counted].sum())

    def total(self, column: str) -> Values:
        """Sum of a counter after the warm-up, per link."""
        return self.samples[column][self.counted].sum(axis=0)
