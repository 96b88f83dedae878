"""Captures of packets, pcap and pcapng, as runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypedDict

import numpy as np

from sojourn import _internal
from sojourn.interchange.observed import Asked, Flow, Imported, digest, made
from sojourn.interchange.passages import PASSAGES, passages
from sojourn.metrics.columns import Table
from sojourn.record import Record
from sojourn.spool import Spool


class _Flow(TypedDict):
    label: str
    transport: str
    #: Whether the capture was made near its sender; ``None`` where that does not show.
    at_sender: bool | None
    rtt: float | None


class _Damage(TypedDict):
    at: int
    what: str


class _Told(TypedDict):
    """What the core tells of a capture."""

    duration: float
    #: Whether Sojourn has written it.
    ours: bool
    flows: Sequence[_Flow]
    frames: int
    #: Of those, in flows that are measured; what is left, by reason.
    counted: int
    left: dict[str, int]
    damage: _Damage | None


def read(asked: Asked) -> Imported:
    """The run in a capture.

    Raises:
        ScenarioError: if it is no capture, has no flows, or its samples were too many.

    """
    digest(asked.path)  # only a regular file is opened again
    spool = Spool()
    tables = _internal.import_capture(asked.path, asked.seconds, spool.add)
    told: _Told = json.loads(tables.pop("capture"))
    tables.pop("totals")
    seconds = told["duration"]
    samples: Table = tables["flow_samples"]
    sent = np.asarray(samples["sent_bytes"], dtype=float).reshape(-1, len(told["flows"])).sum(0)
    flows = [
        Flow(flow["label"], flow["rtt"], None if flow["transport"] == "tcp" else 8 * size / seconds)
        for flow, size in zip(told["flows"], sent.tolist(), strict=True)
    ]
    record = Record({PASSAGES: passages(spool.scan(PASSAGES))}, spool=spool)
    return made(asked, flows, seconds, tables, _vantage(told), list(_notes(told)), record)


def _vantage(told: _Told) -> str:
    """Where the capture was made."""
    if told["ours"]:
        return "both ends"
    at = {flow["at_sender"] for flow in told["flows"]}
    if len(at) > 1:
        return "between"
    return {True: "senders", False: "receivers", None: "unknown"}[at.pop()]


def _notes(told: _Told) -> Iterator[str]:
    if damage := told["damage"]:
        yield f"{damage['what']} after {damage['at']:,} bytes; what comes before is imported"
    if told["left"]:
        left = ", ".join(f"{count:,} {why}" for why, count in told["left"].items())
        yield f"of {told['frames']:,} packets {told['counted']:,} are counted; left out: {left}"
    unknown = sum(not flow["at_sender"] for flow in told["flows"] if flow["transport"] == "tcp")
    if unknown:
        yield (
            f"RTTs of {unknown:,} of {len(told['flows']):,} flows are unknown: they show in a "
            "capture near the sender that has the handshake"
        )
