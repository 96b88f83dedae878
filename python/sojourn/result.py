"""What a run gives: metrics as data frames, series, figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.metrics import RunData, Scope, compute, metrics, plain
from sojourn.scenario import Scenario, expanded_flows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Series:
    """The samples as data frames: one row per interval and flow or link."""

    flows: pl.DataFrame
    links: pl.DataFrame


class Result:
    """One run."""

    def __init__(self, scenario: Scenario, data: RunData, timing: Mapping[str, float]) -> None:
        self.scenario = scenario
        self.data = data
        #: Simulated and wall seconds, events and data packets.
        self.timing = dict(timing)
        #: Names of the only metrics to give; ``None`` for all that need no further runs.
        self.requested: frozenset[str] | None = None

    def request(self, names: Iterable[str] | None) -> Result:
        """Restricts the metrics to ``names``; those that need further runs (``harm_...``) are
        given only if named.
        """
        self.requested = None if names is None else frozenset(names)
        for cached in ("flows", "links", "net"):
            self.__dict__.pop(cached, None)
        return self

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow, one column per metric."""
        return self._frame("flow", flow_identities(self.scenario.canonical))

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per link, one column per metric."""
        return self._frame("link", [{"id": link["id"]} for link in self.data.network["links"]])

    @cached_property
    def net(self) -> pl.DataFrame:
        """One row: the network's metrics."""
        return self._frame("net", [{}])

    @cached_property
    def series(self) -> Series:
        """The samples that the metrics are computed from, in the units of ARCHITECTURE.md."""
        tables = self.data.tables
        return Series(pl.DataFrame(tables["flow_samples"]), pl.DataFrame(tables["link_samples"]))

    def plot(self, name: str = "operating_point") -> Figure:
        """One of the figures of :data:`sojourn.figures.FIGURES` as a matplotlib figure."""
        from sojourn.figures import draw

        return draw(name, self)

    def to_json(self) -> dict[str, Any]:
        """The object that ``sojourn run --format json`` prints."""

        def entries(frame: pl.DataFrame, keys: tuple[str, ...]) -> list[dict[str, Any]]:
            return [{**{k: row.pop(k) for k in keys}, "metrics": row} for row in frame.to_dicts()]

        return {
            "scenario": self.scenario.canonical,
            "flows": entries(self.flows, ("id", "cca", "label")),
            "links": entries(self.links, ("id",)),
            "net": entries(self.net, ())[0],
        }

    def _frame(self, scope: Scope, identities: list[dict[str, Any]]) -> pl.DataFrame:
        units = {m.name: m.unit for m in metrics(scope)}
        columns = compute(self.data, scope, self.requested)
        frame = pl.DataFrame(identities) if identities and identities[0] else pl.DataFrame()
        values = [
            pl.Series(
                name,
                [plain(value, units[name]) for value in vector],
                dtype=pl.Int64 if units[name] in ("count", "bytes") else pl.Float64,
            )
            for name, vector in columns.items()
        ]
        return frame.with_columns(values) if identities and identities[0] else pl.DataFrame(values)


def flow_identities(canonical: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Id, control and label of each flow, in the order of their ids."""
    return [
        {
            "id": index,
            "cca": flow["cca"]["kind"] if flow.get("cca") else flow["transport"],
            "label": flow.get("label"),
        }
        for index, flow in enumerate(expanded_flows(canonical))
    ]
