"""What an explanation may look at: a run's samples, its scenario, and what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.explain.finding import Stretch
from sojourn.explain.party import Party, parties
from sojourn.explain.stretches import longest
from sojourn.json_types import Fields
from sojourn.measured import Measured
from sojourn.metrics.columns import Values, ratio
from sojourn.scenario import expanded_flows

#: Of its time, from which on flows count as limited by the network.
_MOSTLY = 0.8


class Evidence:
    """A run, by flows that are told together and by links."""

    def __init__(self, run: Measured) -> None:
        self.run = run
        self.flow = run.data.flow
        self.link = run.data.link
        self.parties: Sequence[Party] = parties(run)
        #: The names of the links, in the order of their index.
        self.links = [str(link["id"]) for link in run.data.network["links"]]
        self.recorded = run.record.tables

    @property
    def come_and_go(self) -> bool:
        """Whether there are transfers, which have no samples of their own."""
        return bool(self.run.scenario.canonical.get("arrivals"))

    @cached_property
    def settings(self) -> Sequence[Fields]:
        """Each flow's entry of the scenario."""
        return expanded_flows(self.run.scenario.canonical)

    def link_settings(self, link: int) -> Fields:
        """A link's keys in the scenario; empty where the topology makes its links itself."""
        topology, name = self.run.scenario.canonical["topology"], self.links[link]
        hops = enumerate(topology.get("hops") or [])
        known: dict[str, Fields] = {f"hop_{index}": hop for index, hop in hops}
        known |= {str(one.get("id")): one for one in topology.get("links") or []}
        if topology["kind"] == "dumbbell":
            known["bottleneck"] = topology["bottleneck"]
        return known.get(name) or {}

    def total(self, column: str, party: Party) -> float:
        """Sum of a counter over a party's active time, flows that lack it left out; NaN if all
        lack it.
        """
        values = self.flow.total(column)[party.flows]
        return float(np.nansum(values)) if not np.isnan(values).all() else np.nan

    def active_time(self, party: Party) -> float:
        """Seconds that a party's flows are active, summed over them."""
        return float(self.flow.active_time[party.flows].sum())

    def over_time(self, column: str, party: Party) -> Values:
        """A counter's growth in each interval, summed over a party's flows."""
        return np.asarray(np.nansum(self.flow.counted(column)[:, party.flows], axis=1))

    def active(self, party: Party) -> Values:
        """Seconds that a party's flows are active in each interval, summed over them."""
        return np.asarray(self.flow.span[:, party.flows].sum(axis=1))

    def base_rtt(self, party: Party) -> float:
        """Mean base RTT of a party's flows, s."""
        return float(self.flow.base_rtt[party.flows].mean())

    def when(self, mask: NDArray[np.bool_]) -> Stretch | None:
        """The longest stretch of the flows' intervals in which ``mask`` holds."""
        return longest(mask, self.flow.samples.begins, self.flow.samples.ends)

    @cached_property
    def paths(self) -> Sequence[Sequence[int]]:
        """Each flow's links by index, in the direction of its data."""
        return self.run.data.network["paths"]

    def crossing(self, link: int) -> list[Party]:
        """The parties whose data crosses a link, each with those of its flows that do."""
        found = []
        for party in self.parties:
            flows = np.array([f for f in party.ids if link in self.paths[f]], dtype=int)
            if len(flows):
                found.append(Party(party.name, flows))
        return found

    def unused(self, link: int) -> float:
        """The share of a link's rate that stays free although window or pacing limit all flows
        over it for most of the time; 0 where the rate, or what limits the flows, is unknown.
        """
        used = ratio(8 * self.link.total("sent_bytes"), self.link.time * self.link.rate)[link]
        limited = [self._network_limited(party) for party in self.crossing(link)]
        known = limited and all(share > _MOSTLY for share in limited) and not self.come_and_go
        return float(np.clip(1 - used, 0, 1)) if known and not np.isnan(used) else 0.0

    def _network_limited(self, party: Party) -> float:
        limits = [self.total(f"limited_by_{limit}", party) for limit in ("cwnd", "pacing")]
        return float(ratio(sum(limits), self.active_time(party)))

    @cached_property
    def dropped(self) -> pl.DataFrame | None:
        """``link``, ``reason``, ``flow`` and ``count`` of the drops after the warm-up, if packets
        were recorded.
        """
        return self._packets("drop", ("link", "reason", "flow"), pl.len().alias("count"))

    @cached_property
    def waited(self) -> pl.DataFrame | None:
        """``link``, ``flow``, ``count`` and ``sojourn`` (their sum, s) of the packets that links
        delivered after the warm-up, if packets were recorded.
        """
        sums = (pl.len().alias("count"), pl.col("sojourn").sum())
        return self._packets("deliver", ("link", "flow"), *sums)

    def _packets(self, event: str, keys: Sequence[str], *values: pl.Expr) -> pl.DataFrame | None:
        if "packets" not in self.recorded:
            return None
        rows = self.run.record.scan("packets")
        counted = (pl.col("event") == event) & (pl.col("time") >= self.run.data.warmup)
        return rows.filter(counted).group_by(keys).agg(*values).sort(keys).collect()

    def by_party(self, rows: pl.DataFrame, value: str) -> dict[str, float]:
        """The sum of a column of recorded packets by party, the largest first; ``others`` are
        transfers that come and go.
        """
        names = {flow: party.name for party in self.parties for flow in party.ids}
        sums: dict[str, float] = {}
        for flow, amount in rows.select("flow", value).iter_rows():
            name = names.get(flow, "others")
            sums[name] = sums.get(name, 0.0) + float(amount or 0.0)
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def words(self, party: Party) -> Iterator[tuple[str, dict[str, float]]]:
        """What a single flow's control was in by its own words (``mode``), each as shares of the
        time in which it said any; nothing unless it was recorded.
        """
        if "state" not in self.recorded or len(party.flows) != 1:
            return
        own = pl.col("component") == f"flow.{party.ids[0]}.cc"
        rows = self.run.record.scan("state").filter(own).collect()
        for name in rows.filter(pl.col("text").is_not_null())["name"].unique(maintain_order=True):
            one = rows.filter(pl.col("name") == name)
            lasted = one.select("text").with_columns(pl.Series("lasted", self._lasted(one)))
            said = lasted.drop_nulls().group_by("text", maintain_order=True).sum()
            whole = float(said["lasted"].sum())
            shares = {text: lasted / whole for text, lasted in said.iter_rows() if whole}
            yield name, dict(sorted(shares.items(), key=lambda item: -item[1]))

    def believed(self, flow: int, name: str) -> float:
        """What a flow's control held for ``name`` (``min_rtt``), its mean over the time in
        which it held anything; NaN unless it was recorded.
        """
        if "state" not in self.recorded:
            return np.nan
        own = (pl.col("component") == f"flow.{flow}.cc") & (pl.col("name") == name)
        rows = self.run.record.scan("state").filter(own).collect()
        values, lasted = rows["value"].cast(pl.Float64).to_numpy(), self._lasted(rows)
        known = ~np.isnan(values)
        return float(ratio((values * lasted)[known].sum(), lasted[known].sum()))

    def _lasted(self, rows: pl.DataFrame) -> Values:
        """For how long each of the values of one name was so after the warm-up, s."""
        begin, end = self.run.data.warmup, self.run.timing["simulated_seconds"]
        return np.diff(np.clip(np.append(rows["time"].to_numpy(), end), begin, end))

    def unknown(self) -> list[str]:
        """What the run cannot tell, and how to learn it."""
        told = []
        if self.come_and_go:
            told.append("of transfers that come and go there are no samples: only links tell")
        if not self.run.origin and "packets" not in self.recorded:
            told.append("whose packets waited and were dropped is measured with --record packets")
        if not self.run.origin and "state" not in self.recorded and self.parties:
            told.append("what each control was doing, with --record cc")
        return told
