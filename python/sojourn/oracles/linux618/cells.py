"""The cells of the measured table: the experiments of ``experiments/linux618`` and their grids."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sojourn import data
from sojourn.quantity import number
from sojourn.scenario import Document, expanded_flows, load
from sojourn.sweeps.expand import Point, plan

FOLDER = "experiments/linux618"
_PACKET_BITS = 8 * 1500


@dataclass(frozen=True)
class CellRun:
    """One repetition of a cell."""

    experiment: str
    #: What the point of the grid changes in the experiment, as JSON.
    changes: str
    repetition: int
    canonical: Document

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from all others."""
        return self.experiment, self.changes, self.repetition

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return number(self.canonical["duration"])

    @property
    def rate(self) -> float:
        """Rate of the bottleneck, bit/s."""
        return number(self.canonical["topology"]["bottleneck"]["rate"])

    def setup(self) -> dict[str, Any]:
        """The table's columns that say what is measured."""
        bottleneck = self.canonical["topology"]["bottleneck"]
        flows = expanded_flows(self.canonical)
        return {
            "flows": ",".join(flow["cca"]["kind"] for flow in flows),
            "rate_mbit": f"{self.rate / 1e6:g}",
            "rtt_ms": f"{number(flows[0]['rtt']) * 1e3:g}",
            "buffer_packets": self._buffer(bottleneck["queue"]),
            "loss": f"{number(bottleneck['loss']):g}",
            "duration_s": f"{self.seconds:g}",
        }

    def _buffer(self, queue: dict[str, Any]) -> int | None:
        """Packets that a FIFO holds; other disciplines have the parameters they are given."""
        if queue["kind"] != "fifo":
            return None
        value, unit = str(queue["limit"]).split()
        if unit != "bdp":
            return int(value)
        rtt = max(number(flow["rtt"]) for flow in expanded_flows(self.canonical))
        return math.ceil(float(value) * self.rate * rtt / _PACKET_BITS)


def cell_runs(folder: str = FOLDER) -> list[CellRun]:
    """All runs of the experiments in a folder; every cell once before any second repetition of
    one.
    """
    files = sorted(data.path(folder).glob("*.toml"))
    runs = [run for file in files for run in _of(file.stem, list(plan(load(file))))]
    return sorted(runs, key=lambda run: run.repetition)


def _of(experiment: str, points: list[Point]) -> Iterator[CellRun]:
    for point in points:
        if point.error:
            raise ValueError(f"{experiment}: {point.error}")
        changes = json.dumps(dict(point.coordinates), sort_keys=True)
        yield CellRun(experiment, changes, point.replication, point.canonical)
