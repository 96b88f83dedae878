"""What the draft says about its results in words (its sections 4 and 5).

The card says which of it rests on tables that chose parameters, and is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.sce2019 import tables

_CONTROLS = {"reno-sce": ("1", "2"), "dctcp-sce": ("3", "4")}
Check = Callable[[Sequence[Row]], Finding]


class _Values:
    """Measured values by table, flow, bandwidth and delay."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._values = {
            (r["table"], r["flow"], r["bandwidth_mbit"], r["delay_ms"]): r["measured"]
            for r in rows
            if r["measured"] is not None
        }

    def __call__(self, table: str, bandwidth: str, delay: str, flow: str = "") -> float:
        place = (table, flow, bandwidth, delay)
        if place not in self._values:
            told = f"flow {flow} of " if flow else ""
            raise KeyError(f"{told}table {table} at {bandwidth} Mbit/s, {delay} ms")
        return self._values[place]

    def over(self, table: str, bandwidths: Iterable[str], delays: Sequence[str]) -> Iterator[float]:
        """The values of a part of a table."""
        for bandwidth in bandwidths:
            for delay in delays:
                yield self(table, bandwidth, delay)


def _better_at_high_bdp(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    gains = {
        name: median(value.over(throughput, ("50", "100"), ("40", "80", "160")))
        for name, (throughput, _) in _CONTROLS.items()
    }
    return Finding(all(g > 0 for g in gains.values()), _told(gains))


def _worse_at_low_bandwidth(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    losses = {
        name: median(value.over(throughput, ("0.5", "1", "2"), ("40", "80", "160")))
        for name, (throughput, _) in _CONTROLS.items()
    }
    return Finding(all(loss < -0.05 for loss in losses.values()), _told(losses))


def _lower_rtt(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    found: dict[str, float] = {}
    holds = True
    for name, (_, rtt) in _CONTROLS.items():
        near = median(value.over(rtt, ("0.5", "1", "2"), ("0", "2", "5", "10")))
        far = median(value.over(rtt, ("5", "10", "50"), ("20", "40", "80")))
        holds &= near < far < 0.5 and near < -10
        found |= {f"{name} slow and near": near, f"{name} fast and far": far}
    return Finding(holds, _told(found, " ms"))


def _higher_rtt_at_high_bdp(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    rise = median(value.over("2", ("50", "100"), ("80", "160")))
    return Finding(0 < rise < 5, f"median {rise:+.2f} ms")


def _single_queue(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    found: dict[str, float] = {}
    holds = True
    for pair, blind, single in (("reno/reno-sce", "6", "8"), ("cubic/dctcp-sce", "7", "9")):
        unfair = median(value.over(blind, ("50", "100"), ("10", "20", "80")))
        mended = median(value.over(single, ("50", "100"), ("10", "20", "80")))
        holds &= unfair < 0.7 and mended > unfair + 0.1
        found |= {f"{pair} sce": unfair, f"{pair} sce-single": mended}
    return Finding(holds, _told(found))


def _dip(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    dips = {f"{b} Mbit/s": value("10", b, "80") for b in ("5", "10")}
    near = median(value.over("10", ("5", "10"), ("0", "10")))
    holds = all(dip < 0.85 for dip in dips.values()) and near > max(dips.values())
    return Finding(holds, _told(dips | {"0 and 10 ms": near}))


def _sooner(rows: Sequence[Row]) -> Finding:
    value = _Values(rows)
    told, found = [], []
    for control in ("dctcp-sce", "dctcp"):
        table = f"{tables.TEXT}-{control}"
        found.append(value(table, "100", "160"))
        told.append(
            f"{control} {found[-1]:.0f} s for {tables.published()[table, '', '100', '160']}"
        )
    sce, plain = found
    return Finding(60 <= sce <= 100 and 170 <= plain <= 280, ", ".join(told))


def _told(values: dict[str, float], unit: str = "") -> str:
    return ", ".join(f"{name} {value:+.3f}{unit}" for name, value in values.items())


STATEMENTS = (
    Statement(
        "high-bdp",
        "4",
        "better utilisation with SCE at high bandwidth-delay products",
        "tables 1 and 3, 50-100 Mbit/s, 40-160 ms: median above 0",
        _better_at_high_bdp,
    ),
    Statement(
        "low-bandwidth",
        "4",
        "under-utilisation with SCE at low bandwidths",
        "tables 1 and 3, 0.5-2 Mbit/s, 40-160 ms: median below -0.05",
        _worse_at_low_bandwidth,
    ),
    Statement(
        "lower-rtt",
        "4",
        "lower RTT with SCE, the more so at low bandwidth and delay",
        "tables 2 and 4: median at 0.5-2 Mbit/s and 0-10 ms below -10 ms, and below that at "
        "5-50 Mbit/s and 20-80 ms, which is below +0.5 ms",
        _lower_rtt,
    ),
    Statement(
        "higher-rtt",
        "4",
        "slightly higher RTT of reno-sce at high bandwidth-delay products",
        "table 2, 50-100 Mbit/s, 80-160 ms: median between 0 and +5 ms",
        _higher_rtt_at_high_bdp,
    ),
    Statement(
        "single-queue",
        "5",
        "in a single queue, flows without SCE starve those with it; sce-single mends it",
        "tables 6 and 7, 50-100 Mbit/s, 10-80 ms: median below 0.7; 8 and 9: at least 0.1 more",
        _single_queue,
    ),
    Statement(
        "fair-queueing",
        "5",
        "with fair queueing, SCE falls behind at 5-10 Mbit/s and the longest delay",
        "table 10 at 80 ms: below 0.85 at 5 and 10 Mbit/s, and below its median at 0-10 ms",
        _dip,
    ),
    Statement(
        "sooner",
        "4",
        "dctcp-sce fills 100 Mbit/s at 160 ms sooner than dctcp",
        "60 to 100 s, and 170 to 280 s (10 s first carry 95 % of the most that 10 s carry)",
        _sooner,
    ),
)
