"""The flows' side of a run, restricted to each flow's active time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sojourn.json_types import Fields
from sojourn.metrics.columns import (
    EPSILON,
    LastUsed,
    Link,
    Samples,
    Values,
    overhead_of,
    rate_of,
    ratio,
)
from sojourn.metrics.recorded import Recorded
from sojourn.scenario import entries

#: From this share of its active time on, a flow counts as limited by something.
LIMITED = 0.1
#: Traffic models whose flows end of themselves.
BOUNDED_TRAFFIC = frozenset({"sized"})


class FlowView:
    """Samples of the flows, restricted to each flow's active time."""

    def __init__(self, run: Recorded) -> None:
        self.table = {name: np.asarray(column) for name, column in run.tables["flows"].items()}
        self.count = len(self.table["flow"])
        self.samples = Samples(run.tables["flow_samples"], self.count)
        self._run = run
        self._has: dict[str, NDArray[np.bool_]] = {}
        self._total: dict[str, Values] = {}
        #: Matrices that are made of several columns.
        self.made = LastUsed()
        begins, ends = self.samples.begins[:, None], self.samples.ends[:, None]
        overlap = np.minimum(ends, self.end) - np.maximum(begins, self.start)
        counted = (begins >= run.warmup - EPSILON) & (overlap > EPSILON)
        self.span: Values = np.where(counted, overlap, 0.0)
        #: In which intervals each flow is active.
        self.active: NDArray[np.bool_] = self.span > 0
        self.regular = self.span >= (self.samples.ends - self.samples.begins)[:, None] / 2

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
    def bottlenecks(self) -> list[int | None]:
        """Index of the slowest link on each flow's way; ``None`` if all are unlimited."""
        rates = [rate_of(link) for link in self._run.network["links"]]
        ways = ([i for i in path if rates[i] < np.inf] for path in self._run.network["paths"])
        return [min(way, key=rates.__getitem__, default=None) for way in ways]

    def _of_bottleneck(self, fact: Callable[[int, Link], float], unlimited: float) -> Values:
        """A fact of each flow's bottleneck from the link's index and the link; ``unlimited`` where
        there is none.
        """
        facts = [fact(i, link) for i, link in enumerate(self._run.network["links"])]
        places = [len(facts) if i is None else i for i in self.bottlenecks]
        return np.array([*facts, unlimited], dtype=float)[places]

    @cached_property
    def even_share(self) -> Values:
        """Rate of each flow's bottleneck over the flows that pass it, bit/s."""
        passing = Counter(link for path in self._run.network["paths"] for link in path)
        return self.bottleneck_rate / self._of_bottleneck(lambda i, _: passing[i], np.nan)

    @cached_property
    def bottleneck_rate(self) -> Values:
        """Rate of the slowest link on each flow's way, bit/s; NaN if all are unlimited."""
        return self._of_bottleneck(lambda _, link: rate_of(link), np.nan)

    @cached_property
    def wire_size(self) -> Values:
        """Bytes of a packet as the bottleneck counts them: of a full one or, over UDP, of the mean
        datagram.
        """
        datagram = ratio(
            self.samples["wire_bytes_sent"].sum(0), self.samples["sent_packets"].sum(0)
        )
        packet = np.where(self.windowed, self.table["full_packet"], datagram)
        return packet + self._of_bottleneck(lambda _, link: overhead_of(link), 0.0)

    @cached_property
    def bdp(self) -> Values:
        """Bottleneck rate x base RTT in full-sized packets."""
        return self.bottleneck_rate * self.base_rtt / (8 * self.wire_size)

    @cached_property
    def bdp_goodput(self) -> Values:
        """The payload's share of the bottleneck rate x base RTT in full-sized packets."""
        return self.bdp * self.mss / self.wire_size

    @cached_property
    def windowed(self) -> NDArray[np.bool_]:
        """Whether each flow's transport has a congestion window: UDP has none."""
        return self.has("cwnd_time")

    def _whether(self, fact: Callable[[Fields], bool]) -> NDArray[np.bool_]:
        """A fact of each flow's traffic: told once for all flows of an entry of the scenario."""
        flows, counts = entries(self._run.scenario)
        return np.repeat(np.array([fact(flow["traffic"]) for flow in flows], dtype=bool), counts)

    @cached_property
    def greedy(self) -> NDArray[np.bool_]:
        """Whether each flow always has more to send."""
        return self._whether(lambda traffic: traffic["kind"] == "greedy")

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Whether each flow has a last byte."""
        return self._whether(lambda traffic: traffic["kind"] in BOUNDED_TRAFFIC)

    @cached_property
    def application_limited(self) -> Values:
        """Share of each flow's active time in which the application had no more to send. A single
        transfer is not limited by its end.
        """
        never = self.greedy | self._whether(lambda traffic: traffic.get("repeats") == 1)
        return np.where(never, 0.0, self.limited_by("application"))

    def limited_by(self, limit: str) -> Values:
        """Share of each flow's active time in which that kept its sender from sending more."""
        return ratio(self.total(f"limited_by_{limit}"), self.active_time)

    @cached_property
    def network_limited(self) -> NDArray[np.bool_]:
        """Whether network and congestion control set the pace of each flow, not its application."""
        return self.windowed & ~(self.application_limited > LIMITED)

    def has(self, column: str) -> NDArray[np.bool_]:
        """Whether each flow's transport reports the column."""
        if column not in self._has:
            self._has[column] = np.any(~np.isnan(self.samples[column]), axis=0)
        return self._has[column]

    def counted(self, column: str) -> Values:
        """The column where the flow is active, zero elsewhere; NaN of a flow that lacks it."""
        counted = np.where(self.active, self.samples[column], 0.0)
        counted[:, ~self.has(column)] = np.nan
        return counted

    def total(self, column: str) -> Values:
        """Sum of a counter over each flow's active time; NaN of a flow that lacks it."""
        if column not in self._total:
            self._total[column] = self.counted(column).sum(axis=0)
        return self._total[column].copy()

    def where_regular(self, values: Values) -> Values:
        """The values at regular samples, NaN elsewhere."""
        return np.where(self.regular, values, np.nan)

    def rate(self, column: str) -> Values:
        """A byte counter as Mbit/s per regular sample."""
        return self.where_regular(ratio(self.samples[column] * 8e-6, self.span))

    def mean_rate(self, column: str) -> Values:
        """A byte counter as Mbit/s over the active time."""
        return ratio(self.total(column) * 8e-6, self.active_time)

    @property
    def throughput(self) -> Values:
        """Unique payload delivered, Mbit/s per regular sample."""
        return self.made.get("throughput", lambda: self.rate("delivered_bytes"))

    @property
    def positive_throughput(self) -> Values:
        """Throughput without the empty samples, for logarithms and reciprocals."""
        return np.where(self.throughput > 0, self.throughput, np.nan)

    @property
    def srtt(self) -> Values:
        """Time-weighted mean sRTT per sample, s; NaN where unknown."""
        return self.made.get("srtt", self._srtt)

    def _srtt(self) -> Values:
        return self.where_regular(ratio(self.samples["srtt_time"], self.samples["srtt_known"]))
