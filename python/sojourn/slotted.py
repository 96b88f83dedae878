"""Multicast over backpressure in slots of time: see docs/reference/slotted.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NotRequired, TypedDict

from sojourn import _internal

_Ends = TypedDict("_Ends", {"from": int, "to": int})
_Groups = TypedDict("_Groups", {"from": int, "to": Sequence[int]})


class Link(_Ends):
    """A link of a model; its rate in Mbit/s, and pairs of a time in seconds and a rate."""

    rate: float
    changes: NotRequired[Sequence[Sequence[float]]]


class Stream(_Groups):
    """A stream of a model; its ceiling in Mbit/s."""

    priority: NotRequired[float]
    ceiling: NotRequired[float]


class Model(TypedDict, total=False):
    """What is simulated."""

    #: How many.
    nodes: int
    links: Sequence[Link]
    streams: Sequence[Stream]
    seconds: float
    #: In packets squared per second.
    k: float
    #: ``backpressure``, ``zombies``, ``improved-zombies``, ``dual-gradient`` or
    #: ``improved-dual-gradient``.
    queues: str
    #: ``each`` or ``totals``.
    signals: str
    #: Packets that are coded together, 0 without network coding.
    generation: int
    packet_bits: float


class Received(TypedDict):
    """What came to a node of a stream: in each sample Mbit/s and ms, ``None`` where nothing came;
    packets in all.
    """

    stream: int
    node: int
    rates: list[float]
    delays: list[float | None]
    packets: int
    useless: int


class Load(_Ends):
    """A direction of a link: in each sample Mbit/s; zombies in all."""

    rates: list[float]
    zombies: int


class Outcome(TypedDict):
    """What a model comes to."""

    #: The ends of the samples in seconds.
    times: list[float]
    #: Mbit/s by stream and sample.
    admitted: list[list[float]]
    #: In all, by stream.
    admitted_packets: list[int]
    received: list[Received]
    loads: list[Load]
    #: Packets by node, stream and sample.
    queued: list[list[list[float]]]
    #: The mean size of a message about queues.
    signal_bytes: float
    #: At the end: stream, node, packets.
    under_way: list[list[int]]


def run(model: Model) -> Outcome:
    """Simulates a model.

    Raises:
        ScenarioError: the model is wrong; names the field.

    """
    outcome: Outcome = json.loads(_internal.run_slotted(json.dumps(model)))
    return outcome
