"""What a run has recorded, before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NotRequired, TypedDict

from sojourn.json_types import Fields
from sojourn.metrics.columns import Link, Table
from sojourn.quantity import number


class Variant(TypedDict):
    """Connections of an entry that are alike."""

    #: The name of their control; ``None`` of datagrams.
    cca: str | None
    base_rtt: float


class Arrivals(TypedDict):
    """What an entry of the scenario's arrivals offers."""

    label: str
    #: Of a transfer, in bytes; the latter on the link to which loads refer.
    mean_size: float
    wire_bytes: float
    #: Arrivals per second; ``None`` of a closed loop.
    rate: float | None
    #: The index of that link, if it is one of the network's.
    link: int | None
    variants: Sequence[Variant]


class Network(TypedDict):
    """What was built."""

    links: Sequence[Link]
    #: Each flow's links by index.
    paths: Sequence[Sequence[int]]
    #: Of nodes that decide themselves, their names.
    nodes: NotRequired[Sequence[str]]
    #: Of a scenario with arrivals, in the order of its entries.
    arrivals: NotRequired[Sequence[Arrivals]]


@dataclass
class Recorded:
    """A scenario and the columns of its run."""

    #: The canonical scenario.
    scenario: Fields
    #: Columns as the core hands them out.
    tables: Mapping[str, Table]
    network: Network

    @cached_property
    def warmup(self) -> float:
        """Seconds at the beginning that no metric covers."""
        return number(self.scenario["warmup"])
