"""What was observed elsewhere as a run: a scenario that says what is known, and its origin."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn import regular_file
from sojourn.errors import ScenarioError, refused
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.columns import Link, Table
from sojourn.metrics.recorded import Network
from sojourn.origin import CAPTURE, Origin
from sojourn.quantity import number
from sojourn.record import Record
from sojourn.scenario import Document, Scenario, validated

#: The control of flows whose own is not told.
CONTROL = "observed"
#: Bytes of a file at most.
MOST = 1 << 40
_PIECE = 1 << 20
#: A scenario needs a rate, also where nobody knows it.
_SOME_RATE = "1 Gbit/s"
#: What a name may not have.
_UNUSUAL = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class Asked:
    """A file, and what is to be made of it."""

    path: Path
    #: Of samples.
    interval: str = "100 ms"
    #: Of the bottleneck, if somebody knows it.
    rate: str | None = None

    @property
    def seconds(self) -> float:
        """The interval.

        Raises:
            ScenarioError: if it is none.

        """
        seconds = number(self.interval)
        if not 1e-3 <= seconds < math.inf:
            raise refused("--interval", f"{self.interval!r} given; expected 1 ms or more")
        return seconds

    @property
    def name(self) -> str:
        """What the run is called: the file's name without its endings."""
        stem = self.path.name.removesuffix(".gz").rpartition(".")[0]
        return _UNUSUAL.sub("-", stem).strip("-.") or "capture"


@dataclass(frozen=True)
class Flow:
    """What is known of a flow."""

    label: str
    #: The least RTT, s; ``None`` where it is not known.
    rtt: float | None
    #: Mean rate of datagrams in bit/s; ``None`` of TCP.
    datagrams: float | None = None

    def entry(self) -> Document:
        """Its entry in a scenario."""
        entry: Document = {"label": self.label, "rtt": f"{1e3 * (self.rtt or 0.0):.6f} ms"}
        if self.datagrams is None:
            return {**entry, "cca": CONTROL}
        rate = f"{max(1.0, self.datagrams):.0f} bit/s"
        return {**entry, "transport": "udp", "traffic": {"kind": "cbr", "rate": rate}}


@dataclass(frozen=True)
class Imported:
    """A run that was made elsewhere."""

    result: Measured
    #: What to know of it.
    notes: Sequence[str]


def made(
    asked: Asked,
    flows: Sequence[Flow],
    seconds: float,
    tables: Mapping[str, Table],
    vantage: str,
    notes: Sequence[str],
    record: Record | None = None,
) -> Imported:
    """The run that a file tells of: columns as of the core, over so many seconds.

    Raises:
        ScenarioError: if the rate is none.

    """
    scenario = _scenario(asked, flows, seconds)
    ends = (None, None)
    link: Link = {"id": "bottleneck", "rate": asked.rate, "overhead": None, "ends": ends}
    network: Network = {"links": [link], "paths": [[0] for _ in flows]}
    timing = {"simulated_seconds": seconds, "wall_seconds": 0.0}
    data = RunData(scenario.canonical, tables, network)
    origin: Origin = {"backend": CAPTURE, "file": asked.path.name, "digest": digest(asked.path)}
    if vantage:
        origin["vantage"] = vantage
    return Imported(Measured(scenario, data, timing, record, origin), notes)


def digest(path: Path) -> str:
    """What tells a file's content.

    Raises:
        ScenarioError: if it cannot be read.

    """
    try:
        with regular_file.opened(path, MOST) as file:
            whole = hashlib.blake2b(digest_size=8)
            while piece := file.read(_PIECE):
                whole.update(piece)
            return whole.hexdigest()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None


def _scenario(asked: Asked, flows: Sequence[Flow], seconds: float) -> Scenario:
    if asked.rate is not None and not number(asked.rate) > 0:
        raise refused("--rate", f"{asked.rate!r} given; expected a rate such as 10 Mbit/s")
    bottleneck = {"rate": asked.rate or _SOME_RATE}
    scenario = validated(
        {
            "name": asked.name,
            "duration": f"{seconds:.9f} s",
            "warmup": "0 s",
            "sample_interval": asked.interval,
            "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
            "flows": [flow.entry() for flow in flows],
        }
    )
    if asked.rate is None:
        for document in (scenario.document, scenario.canonical):
            del document["topology"]["bottleneck"]["rate"]
    return scenario
