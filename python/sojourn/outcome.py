"""A run as JSON tells it: who its flows, links and groups are, and the metrics of each."""

from __future__ import annotations

from typing import TypedDict

import polars as pl

from sojourn.json_types import Fields
from sojourn.metrics import RunData, Scope
from sojourn.names import control_name
from sojourn.origin import Quality
from sojourn.scenario import Document, entries

#: What tells the members of a scope apart.
IDENTITY: dict[Scope, dict[str, type[pl.DataType]]] = {
    "flow": {"id": pl.Int64, "cca": pl.String, "label": pl.String},
    "link": {"id": pl.String},
    "net": {},
    "group": {"id": pl.String},
    "transfer": {"id": pl.String, "label": pl.String, "size_low": pl.Int64, "size_high": pl.Int64},
}


class Identity(TypedDict, total=False):
    """Who a flow, link or group is; nothing of the network."""

    id: int | str
    cca: str
    label: str | None
    #: Of transfers whose sizes are in a bin, its ends in bytes.
    size_low: int | None
    size_high: int | None


class Member(Identity):
    """Its metrics by name; ``None`` where undefined."""

    metrics: dict[str, float | None]


class Transfers(TypedDict):
    """The metrics of the transfers of a label, of all sizes or of those in a bin."""

    id: str
    label: str
    #: Ends of the bin in bytes; ``None`` for all.
    sizes: list[int] | None
    metrics: dict[str, float | None]


class Run(TypedDict, total=False):
    """What some runs tell besides."""

    backend: str
    quality: Quality
    #: Of a scenario with arrivals.
    transfers: list[Transfers]


class Outcome(Run):
    """A run as ``sojourn run --format json`` prints it."""

    scenario: Document
    flows: list[Member]
    links: list[Member]
    net: Member
    groups: list[Member]


def identities(scope: Scope, data: RunData) -> list[Identity]:
    """Who the members of a scope are, in their order."""
    if scope == "flow":
        return flow_identities(data.scenario)
    if scope == "link":
        return [{"id": link["id"]} for link in data.network["links"]]
    if scope == "group":
        return [{"id": name} for name in data.group.ids]
    if scope == "net":
        return [{}]
    return [
        {"id": member.id, "label": member.label, "size_low": low, "size_high": high}
        for member in data.transfer.members
        for low, high in [member.sizes or (None, None)]
    ]


def of_transfers(member: Member) -> Transfers:
    """The same of transfers, with both ends of the bin together."""
    low, high = member["size_low"], member["size_high"]
    return {
        "id": str(member["id"]),
        "label": str(member["label"]),
        "sizes": None if low is None or high is None else [low, high],
        "metrics": member["metrics"],
    }


def flow_identities(canonical: Fields) -> list[Identity]:
    """Id, control and label of each flow, in the order of their ids."""
    flows, counts = entries(canonical)
    names = [(control_name(flow), flow.get("label")) for flow in flows]
    each = (name for name, count in zip(names, counts, strict=True) for _ in range(count))
    return [{"id": n, "cca": cca, "label": label} for n, (cca, label) in enumerate(each)]
