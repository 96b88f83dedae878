"""Series of throughput and RTT as the core's columns; what they do not tell is NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sojourn import _internal
from sojourn.metrics.columns import Table, Values


@dataclass(frozen=True)
class Seen:
    """What is known of a flow, interval by interval; NaN where nothing is."""

    #: Of payload delivered, bit/s.
    throughput: Values
    #: Smoothed RTT at the interval's end, s.
    rtt: Values
    #: What else is known, by column.
    columns: Mapping[str, Values] = field(default_factory=dict)
    #: Payload of a full packet, bytes.
    mss: float = np.nan
    #: When it begins and ends, s; ``None`` where only its throughput tells.
    between: tuple[float, float] | None = None

    @property
    def least_rtt(self) -> float | None:
        """The least RTT."""
        known = self.rtt[np.isfinite(self.rtt)]
        return float(known.min()) if known.size else None

    def active(self, begins: Values, ends: Values) -> tuple[float, float]:
        """When it begins and ends, or its first and last interval with data do."""
        if self.between is not None:
            return self.between
        there = np.flatnonzero(self.throughput > 0)
        first, last = there[[0, -1]] if there.size else (0, -1)
        return float(begins[first]), float(ends[last])


def tables(ends: Values, seen: Sequence[Seen]) -> dict[str, Table]:
    """The tables of a run of these flows and one link, over intervals that end then."""
    spans = np.diff(ends, prepend=0.0)
    flow_columns, link_columns = _internal.sample_columns()
    flow_samples = _empty(flow_columns, len(ends) * len(seen))
    known = {
        "time": [ends for _ in seen],
        "flow": [np.full(len(ends), n) for n in range(len(seen))],
        "delivered_bytes": [np.nan_to_num(one.throughput) * spans / 8 for one in seen],
        "srtt": [one.rtt for one in seen],
        "srtt_time": [np.nan_to_num(one.rtt) * spans for one in seen],
        "srtt_known": [np.where(np.isnan(one.rtt), 0.0, spans) for one in seen],
    }
    unknown = np.full(len(ends), np.nan)
    for name in {name for one in seen for name in one.columns}:
        usual = known.get(name, [unknown for _ in seen])
        known[name] = [one.columns.get(name, of) for one, of in zip(seen, usual, strict=True)]
    flow_samples |= {name: np.stack(of, axis=1).reshape(-1) for name, of in known.items()}
    link_samples = {**_empty(link_columns, len(ends)), "time": ends, "link": np.zeros(len(ends))}
    return {
        "flow_samples": flow_samples,
        "flows": _flows(ends - spans, ends, seen),
        "link_samples": link_samples,
        "links": {"link": np.zeros(1), **_empty(_percentiles("sojourn"), 1)},
    }


def _flows(begins: Values, ends: Values, seen: Sequence[Seen]) -> dict[str, Values]:
    least = [np.nan if one.least_rtt is None else one.least_rtt for one in seen]
    active = np.array([one.active(begins, ends) for one in seen])
    unknown = ["full_packet", "established_at", "completed_at", *_percentiles("rtt")]
    return {
        "flow": np.arange(len(seen), dtype=float),
        **_empty(unknown, len(seen)),
        "base_rtt": np.array(least),
        "mss": np.array([one.mss for one in seen]),
        "start": active[:, 0],
        "stop": active[:, 1],
    }


def _percentiles(name: str) -> list[str]:
    return [f"{name}_p{share}" for share in (50, 95, 99)]


def _empty(columns: Sequence[str], rows: int) -> dict[str, Values]:
    return {name: np.full(rows, np.nan) for name in columns}
