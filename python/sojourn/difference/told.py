"""What a flow's ends and a link's queue knew at an instant, on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TypedDict

import polars as pl

from sojourn.difference.parting import Parting
from sojourn.difference.sides import Side
from sojourn.json_types import Scalar
from sojourn.spool import scanned

#: The samples of a flow that tell what its sender knew.
_SENDER = (
    *("cwnd", "ssthresh", "in_flight", "srtt", "min_rtt", "pacing_rate", "delivery_rate"),
    *("retransmissions", "lost"),
)
#: What headers tell of what has arrived, and of what was sent.
_ENDS = ("ack", "sack", "seq")
#: What no control has set.
_UNSET = 2**31 - 1


class Known(TypedDict):
    """A value on both sides; ``None`` where there is none."""

    #: What has it: ``flow.0.cc``, ``link.bottleneck.queue``; ``flow.0.sample`` in the interval that
    #: ended last; ``flow.0.packets`` at the link; ``flow.0.senders`` at a vantage.
    of: str
    name: str
    a: Scalar
    b: Scalar


#: Names of values, by what has them.
_Values = dict[tuple[str, str], Scalar]


def known(a: Side, b: Side, parting: Parting) -> list[Known]:
    """What both sides knew when they parted, what had happened at that instant included; what
    differs comes first.
    """
    left, right = (dict(_values(side, parting)) for side in (a, b))
    all_of_it: list[Known] = [
        {"of": key[0], "name": key[1], "a": left.get(key), "b": right.get(key)}
        for key in dict.fromkeys((*left, *right))
        if (left.get(key), right.get(key)) != (None, None)
    ]
    return sorted(all_of_it, key=lambda one: one["a"] == one["b"])


def _values(side: Side, parting: Parting) -> Iterator[tuple[tuple[str, str], Scalar]]:
    flow, queue = f"flow.{parting.flow}", f"link.{parting.link}.queue"
    yield from _packets(side, parting, f"{flow}.packets")
    yield from _headers(side, parting)
    state = _state(side, parting, [f"{flow}.cc", queue])
    yield from state.items()
    yield from _sample(side, parting, f"{flow}.sample")


def _packets(side: Side, parting: Parting, of: str) -> Iterator[tuple[tuple[str, str], Scalar]]:
    """How many of the flow's packets had been where, and which was the last."""
    here = side.rows.filter(pl.col("time") <= parting.time, link=parting.link, flow=parting.flow)
    events = here.group_by("event").agg(pl.len(), pl.col("index").last()).sort("event").collect()
    for event, count, last in events.iter_rows():
        yield (of, f"{event} count"), count
        yield (of, f"{event} last"), last


def _headers(side: Side, parting: Parting) -> Iterator[tuple[tuple[str, str], Scalar]]:
    """What the last packets of the flow said, at each vantage of a capture: those that had come
    (``deliver``) and those that had gone.
    """
    if not side.vantages:
        return
    rows = side.rows.filter(pl.col("time") <= parting.time, flow=parting.flow)
    last = rows.group_by("link", "event").agg(pl.col(_ENDS).last()).sort("link", "event")
    for row in last.collect().iter_rows(named=True):
        for name in _ENDS:
            yield (f"flow.{parting.flow}.{row['link']}", f"{row['event']} {name}"), row[name]


def _state(side: Side, parting: Parting, components: list[str]) -> _Values:
    """The state that was recorded, if it was."""
    if "state" not in side.run.record.tables:
        return {}
    until = pl.col("time") <= parting.time
    rows = side.run.record.scan("state").filter(until, pl.col("component").is_in(components))
    last = pl.col("value", "text").last()
    values = rows.group_by("component", "name", maintain_order=True).agg(last).collect()
    found = {
        (component, name): text if text is not None else value
        for component, name, value, text in values.iter_rows()
        if text is not None or value is not None
    }
    return dict(sorted(found.items()))


def _sample(side: Side, parting: Parting, of: str) -> Iterator[tuple[tuple[str, str], Scalar]]:
    """The last sample of the flow before."""
    rows = scanned(side.run.data.tables["flow_samples"]).select("time", "flow", *_SENDER)
    before = rows.filter(pl.col("time") <= parting.time, flow=parting.flow).tail(1).collect()
    for name, value in before.drop("flow").to_dicts()[0].items() if before.height else ():
        if value is not None and isfinite(value) and value != _UNSET:
            yield (of, name), value
