"""What a run has measured: metrics as data frames, series, what was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Self

import numpy as np
import polars as pl

from sojourn.errors import ScenarioError, SojournError
from sojourn.metrics import Metric, RunData, Scope, Values, metrics
from sojourn.metrics import values as values_of
from sojourn.metrics.transfer_view import STATISTICS
from sojourn.origin import Origin
from sojourn.outcome import IDENTITY, Member, Outcome, Run, identities, of_transfers
from sojourn.programs import Programs
from sojourn.record import Record
from sojourn.scenario import Scenario
from sojourn.spool import scanned
from sojourn.transfers import named

#: The scopes by the names of their data frames.
SCOPES: dict[str, Scope] = {
    **{"flows": "flow", "links": "link", "net": "net", "groups": "group"},
    "transfers": "transfer",
}
_COUNTS = ("count", "bytes")


@dataclass(frozen=True)
class Series:
    """The samples as data frames: one row per interval and flow or link."""

    flows: pl.DataFrame
    links: pl.DataFrame


class Measured:
    """One run, as everything that looks at runs needs it."""

    def __init__(
        self,
        scenario: Scenario,
        data: RunData,
        timing: Mapping[str, float],
        record: Record | None = None,
        origin: Origin | None = None,
        programs: Programs | None = None,
    ) -> None:
        self.scenario = scenario
        #: Of a run that was not simulated.
        self.origin: Origin = {**origin} if origin else {}
        self.data = data
        #: What was recorded as it happened, if anything.
        self.record = record or Record({})
        #: What its programs said, wrote and came to, if it had any.
        self.programs = programs
        #: Simulated and wall seconds, events and data packets.
        self.timing = dict(timing)
        #: Names of the only metrics to give; ``None`` for all that need no further runs.
        self.requested: frozenset[str] | None = None
        self._values: dict[Metric, Values] = {}
        links = len(data.network["links"])
        self._counts: dict[Scope, int] = {"flow": data.flow.count, "link": links, "net": 1}
        self._counts["group"] = len(data.group.ids)

    def request(self, names: Iterable[str] | None) -> Self:
        """Restricts the metrics to ``names``; those that need further runs (``harm_...``) are
        given only if named.
        """
        self.requested = None if names is None else frozenset(names)
        return self

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow, one column per metric."""
        return self.frame("flow", self._chosen("flow"))

    @property
    def links(self) -> pl.DataFrame:
        """One row per link, one column per metric."""
        return self.frame("link", self._chosen("link"))

    @property
    def net(self) -> pl.DataFrame:
        """The network's metrics in one row; empty if none is requested."""
        return self.frame("net", self._chosen("net"))

    @property
    def groups(self) -> pl.DataFrame:
        """One row per control and per label in a run of several flows, one column per metric."""
        return self.frame("group", self._chosen("group"))

    @property
    def completions(self) -> pl.DataFrame:
        """One row per label of arrivals, and per label and bin of sizes; one column per metric."""
        return self.frame("transfer", self._chosen("transfer"))

    def by_size(self, edges: Sequence[int]) -> Measured:
        """The same run with transfers told apart by other bins of sizes: from each of ``edges`` to
        below the next, in bytes and rising.
        """
        data = replace(self.data, sizes=edges)
        other = Measured(self.scenario, data, self.timing, self.record, self.origin, self.programs)
        return other.request(self.requested)

    def intervals(self, name: str) -> Values:
        """Half widths of the 95 % confidence intervals of a metric of completion times or
        slowdowns, such as ``fct_p99``: one for each row of :attr:`completions`, by batch means
        over this run alone; NaN where its transfers are too few.
        """
        if not self.data.transfer.members:
            return np.empty(0)
        from sojourn.statistics import batches  # takes longer to load than most runs take

        quantity, _, statistic = name.partition("_")
        view, share = self.data.transfer, STATISTICS[statistic]
        each = (view.in_order(member, quantity) for member in view.members)
        return np.array([batches.half_width(values, share) for values in each], dtype=float)

    def frames(self) -> tuple[pl.DataFrame, ...]:
        """Flows, links, network, groups and transfers."""
        return self.flows, self.links, self.net, self.groups, self.completions

    def complete(self) -> dict[str, pl.DataFrame]:
        """What is stored: every metric that needs no further runs, and those requested."""
        named = self.requested or frozenset()
        return {
            plural: self.frame(
                scope, [m for m in metrics(scope) if not m.on_request or m.name in named]
            )
            for plural, scope in SCOPES.items()
            if scope != "transfer" or "arrivals" in self.data.network
        }

    @cached_property
    def series(self) -> Series:
        """The samples that the metrics are computed from, in units of docs/reference/results.md."""
        flows, links = (self.data.tables[f"{of}_samples"] for of in ("flow", "link"))
        return Series(scanned(flows).collect(), scanned(links).collect())

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer that has arrived, in the order in which they ended; the columns of
        ``transfers.parquet`` (docs/reference/results.md): times in seconds, sizes in bytes.

        Raises:
            ScenarioError: if the scenario has no arrivals.

        """
        return self.scan_transfers().collect()

    def scan_transfers(self) -> pl.LazyFrame:
        """:attr:`transfers`, read when and as far as it is needed; raises as that."""
        if "transfers" not in self.data.tables:
            raise ScenarioError("transfers: none arrive; give the scenario [[arrivals]]")
        return named(scanned(self.data.tables["transfers"]), self.scenario.canonical)

    @property
    def state(self) -> pl.DataFrame:
        """The state of congestion controls and queues, a row whenever a value changes.

        Raises:
            ScenarioError: if neither was recorded.

        """
        return self.record.scan("state").collect()

    @property
    def packets(self) -> pl.DataFrame:
        """What happened to each packet at each recorded link.

        Raises:
            ScenarioError: if packets were not recorded.

        """
        return self.record.scan("packets").collect()

    def to_json(self) -> Outcome:
        """The object that ``sojourn run --format json`` prints."""
        net = self._entries("net")
        run: Run = {}
        if "backend" in self.origin:
            run["backend"] = self.origin["backend"]
        if "quality" in self.origin:
            run["quality"] = self.origin["quality"]
        if "arrivals" in self.data.network:
            run["transfers"] = list(map(of_transfers, self._entries("transfer")))
        return {
            "scenario": self.scenario.canonical,
            **run,
            "flows": self._entries("flow"),
            "links": self._entries("link"),
            "net": {"metrics": net[0]["metrics"]},
            "groups": self._entries("group"),
        }

    def _entries(self, scope: Scope) -> list[Member]:
        """The members of a scope with their metrics; no data frames, of which those of a short run
        would take longer than its simulation.
        """
        chosen = self._chosen(scope)
        columns = [_plain(metric, self._of(metric)) for metric in chosen]
        return [
            {
                **who,
                "metrics": {m.name: column[at] for m, column in zip(chosen, columns, strict=True)},
            }
            for at, who in enumerate(identities(scope, self.data))
        ]

    def frame(self, scope: Scope, chosen: Iterable[Metric]) -> pl.DataFrame:
        """Who the members of a scope are, and the chosen metrics of each."""
        who = pl.DataFrame(identities(scope, self.data), schema=IDENTITY[scope])
        return pl.DataFrame([*who, *(_series(m, self._of(m)) for m in chosen)])

    def _chosen(self, scope: Scope) -> list[Metric]:
        names = self.requested
        return [
            m for m in metrics(scope) if (not m.on_request if names is None else m.name in names)
        ]

    def values(self, scope: Scope, name: str) -> Values:
        """A metric of each member of a scope; NaN where undefined."""
        return self._of(next(m for m in metrics(scope) if m.name == name))

    def _count(self, scope: Scope) -> int:
        """Of members; those of transfers are told by sizes, which are not read before."""
        return len(self.data.transfer.members) if scope == "transfer" else self._counts[scope]

    def _of(self, metric: Metric) -> Values:
        """The metric's values; they are computed once."""
        if metric not in self._values:
            vector = values_of(self.data, metric)
            count = self._count(metric.scope)
            if vector.shape != (count,):
                raise SojournError(
                    f"metric {metric.name}: gave values of shape {vector.shape}; expected {count}, "
                    f"one per {metric.scope}"
                )
            self._values[metric] = vector
        return self._values[metric]


def _series(metric: Metric, vector: Values) -> pl.Series:
    """A metric's values: null where undefined, integers if they count."""
    known = np.where(np.isfinite(vector), vector, np.nan)
    column = pl.Series(metric.name, known, nan_to_null=True)
    return column.cast(pl.Int64) if metric.unit in _COUNTS else column


def _plain(metric: Metric, vector: Values) -> list[float | int | None]:
    """The same as a list."""
    kind = int if metric.unit in _COUNTS else float
    return [kind(value) if isfinite(value) else None for value in vector.tolist()]
