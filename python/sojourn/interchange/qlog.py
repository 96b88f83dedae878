"""qlog's events as runs: each trace is a flow, of the data that its end sends or, if it sends none,
receives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from sojourn.errors import ScenarioError
from sojourn.interchange import qlog_events
from sojourn.interchange.observed import Asked, Flow, Imported, made
from sojourn.interchange.qlog_events import Event, Trace, amount
from sojourn.interchange.series import Seen, tables
from sojourn.json_types import Fields
from sojourn.metrics.columns import Values

#: Rows of samples at most.
_MOST_ROWS = 1_000_000
#: Payload of a full packet where no packets are told.
_PAYLOAD = 1448
#: A part of a stream: its name, its first byte and the byte after its last.
_Part = tuple[str, float, float]


@dataclass
class _Steps:
    """A value that stays until it is told anew."""

    times: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def tell(self, time: float, value: float | None) -> None:
        """From then on it is that."""
        if value is not None:
            self.times.append(time)
            self.values.append(value)

    def integral(self, ends: Values) -> Values:
        """Over each interval that ends then."""
        if not self.times:
            return np.full(len(ends), np.nan)
        times, values = np.array(self.times), np.array(self.values)
        before = np.concatenate([[0.0], np.cumsum(np.diff(times) * values[:-1])])
        place = np.searchsorted(times, ends, side="right") - 1
        at = np.maximum(place, 0)
        total = np.where(place < 0, 0.0, before[at] + (ends - times[at]) * values[at])
        return np.diff(total, prepend=0.0)

    def known(self, ends: Values) -> Values:
        """The seconds of each interval in which it was known."""
        steps = _Steps(self.times, [1.0] * len(self.times))
        return np.nan_to_num(steps.integral(ends))

    def at(self, ends: Values) -> Values:
        """The value at the end of each interval; NaN before it was told."""
        place = np.searchsorted(np.array(self.times), ends, side="right") - 1
        values = np.array([*self.values, np.nan])
        return values[np.where(place < 0, len(self.values), place)]


class _Counts:
    """Amounts at their times."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._amounts: list[float] = []

    def add(self, time: float, amount: float = 1.0) -> None:
        """So much at that time."""
        self._times.append(time)
        self._amounts.append(amount)

    @property
    def total(self) -> float:
        """All together."""
        return sum(self._amounts)

    def over(self, ends: Values) -> Values:
        """Over each interval that ends then."""
        place = np.minimum(np.searchsorted(ends, self._times), len(ends) - 1)
        return np.bincount(place, self._amounts, len(ends)).astype(float)


class _Told:
    """What a trace has told so far."""

    #: Metrics of recovery, by their names.
    METRICS = ("congestion_window", "ssthresh", "bytes_in_flight", "packets_in_flight")
    TIMES = ("smoothed_rtt", "min_rtt")

    def __init__(self, trace: Trace) -> None:
        self.steps = {name: _Steps() for name in (*self.METRICS, *self.TIMES, "pacing_rate")}
        names = ("sent", "payload", "wire", "again", "acked", "received", "lost", "rtts", "rtt")
        self.counts = {name: _Counts() for name in names}
        self.payload = 0.0
        self._outstanding: dict[float, list[_Part]] = {}
        self._ends: dict[str, float] = {}
        self._delivered: set[tuple[str, float]] = set()
        self._between = (trace.events[0].time, trace.events[-1].time)
        take = {
            "packet_sent": self._sent,
            "packet_received": self._received,
            "packet_lost": self._lost,
            "metrics_updated": self._metrics,
        }
        for event in trace.events:
            if event.name in take:
                take[event.name](event)

    def _sent(self, event: Event) -> None:
        parts = list(_parts(event.data))
        self.counts["wire"].add(event.time, _length(event.data.get("raw"), "length"))
        if not parts:
            return
        size = sum(end - begin for _, begin, end in parts)
        self.payload = max(self.payload, size)
        self.counts["sent"].add(event.time)
        self.counts["payload"].add(event.time, size)
        if all(end <= self._ends.get(stream, 0.0) for stream, _, end in parts):
            self.counts["again"].add(event.time)
        for stream, _, end in parts:
            self._ends[stream] = max(end, self._ends.get(stream, 0.0))
        self._outstanding[_number(event.data)] = parts

    def _received(self, event: Event) -> None:
        for _, begin, end in _parts(event.data):
            self.payload = max(self.payload, end - begin)
            self.counts["received"].add(event.time, end - begin)
        ranges = [span for frame in _frames(event.data) for span in _acked(frame)]
        if not ranges:
            return
        for number in [n for n in self._outstanding if any(a <= n <= b for a, b in ranges)]:
            for stream, begin, end in self._outstanding.pop(number):
                if (stream, begin) not in self._delivered:
                    self._delivered.add((stream, begin))
                    self.counts["acked"].add(event.time, end - begin)

    def _lost(self, event: Event) -> None:
        self.counts["lost"].add(event.time)
        self._outstanding.pop(_number(event.data), None)

    def _metrics(self, event: Event) -> None:
        for name in self.METRICS:
            self.steps[name].tell(event.time, amount(event.data.get(name)))
        for name in self.TIMES:
            told = amount(event.data.get(name))
            self.steps[name].tell(event.time, None if told is None else told / 1e3)
        self.steps["pacing_rate"].tell(event.time, amount(event.data.get("pacing_rate")))
        if (latest := amount(event.data.get("latest_rtt"))) is not None:
            self.counts["rtts"].add(event.time)
            self.counts["rtt"].add(event.time, latest / 1e3)

    def seen(self, ends: Values) -> Seen:
        """The columns of a flow over intervals that end then."""
        spans = np.diff(ends, prepend=0.0)
        sends = self.counts["payload"].total > 0 or self.counts["received"].total == 0
        delivered = self.counts["acked" if sends else "received"].over(ends)
        columns = self._columns(ends) | (self._sender(ends) if sends else {})
        rtt, throughput = self.steps["smoothed_rtt"].at(ends), 8 * delivered / spans
        return Seen(throughput, rtt, columns, self._mss, self._between)

    @property
    def _mss(self) -> float:
        return self.payload or float(_PAYLOAD)

    def _sender(self, ends: Values) -> dict[str, Values]:
        names = {"sent": "sent_packets", "payload": "sent_bytes", "wire": "wire_bytes_sent"}
        names |= {"again": "retransmissions", "lost": "lost"}
        return {column: self.counts[name].over(ends) for name, column in names.items()}

    def _columns(self, ends: Values) -> dict[str, Values]:
        steps, mss = self.steps, self._mss
        rtt, window, flying = steps["smoothed_rtt"], steps["congestion_window"], self._in_flight()
        columns = {
            "srtt_time": np.nan_to_num(rtt.integral(ends)),
            "srtt_known": rtt.known(ends),
            "min_rtt": steps["min_rtt"].at(ends),
            "pacing_rate": steps["pacing_rate"].at(ends),
            "cwnd": window.at(ends) / mss,
            "ssthresh": steps["ssthresh"].at(ends) / mss,
            "cwnd_time": window.integral(ends) / mss,
            "in_flight": flying.at(ends),
            "in_flight_time": flying.integral(ends),
        }
        if self.counts["rtts"].total:
            columns["rtt_count"] = self.counts["rtts"].over(ends)
            columns["rtt_sum"] = self.counts["rtt"].over(ends)
        return columns

    def _in_flight(self) -> _Steps:
        """In packets."""
        packets, size = self.steps["packets_in_flight"], self.steps["bytes_in_flight"]
        if packets.times:
            return packets
        return _Steps(size.times, [value / self._mss for value in size.values])


def read(asked: Asked) -> Imported:
    """The run in a file of qlog's.

    Raises:
        ScenarioError: if it is none, has no events, or its samples were too many.

    """
    found = qlog_events.read(asked.path)
    traces = [trace for trace in found.traces if trace.events]
    if not traces:
        raise ScenarioError(f"{asked.path}: has no events of qlog")
    last = max(trace.events[-1].time for trace in traces)
    count = max(1, int(np.ceil(last / asked.seconds)))
    if count * len(traces) > _MOST_ROWS:
        raise ScenarioError(
            f"{asked.path}: lasts {last:.1f} s: {count:,} samples of {len(traces)} flows; give a "
            "longer --interval"
        )
    ends = asked.seconds * np.arange(1.0, count + 1)
    seen = [_Told(trace).seen(ends) for trace in traces]
    flows = [Flow(of.title, one.least_rtt) for of, one in zip(traces, seen, strict=True)]
    notes = [f"{found.unread:,} records make no sense; left out"] if found.unread else []
    return made(asked, flows, float(ends[-1]), tables(ends, seen), "", notes)


def _frames(data: Fields) -> Iterator[Fields]:
    frames = data.get("frames")
    for frame in frames if isinstance(frames, list) else []:
        if isinstance(frame, dict):
            yield frame


def _parts(data: Fields) -> Iterator[_Part]:
    """The parts of streams that a packet carries."""
    for frame in _frames(data):
        begin = amount(frame.get("offset"))
        if frame.get("frame_type") == "stream" and begin is not None:
            length = amount(frame.get("length"))
            raw = frame.get("raw")
            if length is None:
                length = _length(raw, "payload_length") or _length(raw, "length")
            if length > 0:
                yield str(frame.get("stream_id")), begin, begin + length


def _length(raw: object, name: str) -> float:
    return (amount(raw.get(name)) or 0.0) if isinstance(raw, Mapping) else 0.0


def _number(data: Fields) -> float:
    header = data.get("header")
    number = amount(header.get("packet_number")) if isinstance(header, dict) else None
    return -1.0 if number is None else number


def _acked(frame: Fields) -> Iterator[tuple[float, float]]:
    """Ranges of numbers that a frame acknowledges."""
    ranges = frame.get("acked_ranges")
    for span in ranges if isinstance(ranges, list) else []:
        edges = [amount(edge) for edge in span] if isinstance(span, list) else []
        if len(edges) in (1, 2) and (a := edges[0]) is not None and (b := edges[-1]) is not None:
            yield a, b
