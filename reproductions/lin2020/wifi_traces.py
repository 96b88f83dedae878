"""Running samples over Wi-Fi at 2.4 GHz, of seed 1: figures 10, 11 and 13."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.campaign.cases import AnyCase, Results, Sampled
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.runs import sampled, scenario

Array = NDArray[np.float64]
_KB = 1.448
#: Samples of 100 ms that a moving mean takes together.
_SMOOTHED = 10
#: What figure 10 shows of a run, s.
_STEADY = (10.0, 30.0)
#: The flows of figures 10, 11 and 13.
_BLOCKS = ("CUBIC", "BBR (fq)")
_RUNNING = ("CUBIC", "NewReno")
_BESIDE_CUBIC = ("NewReno", "BBR (fq)", "Westwood+", "Veno")
_KEPT = (
    "ack_blocks",
    "acks_received",
    "cwnd",
    "delivered_bytes",
    "retransmissions",
    "send_gap_count",
    "send_gap_sum",
    "srtt",
)


def drawn(rows: Sequence[Mapping[str, Any]], request: Request) -> Iterator[AnyCase]:
    """The cases of the figures whose tables are shown."""
    tables = {row["table"] for row in rows}
    if "12" in tables:
        yield from (_case((row,), request) for row in (*_BLOCKS, *_RUNNING))
    if "14" in tables:
        yield from (_case((row, "CUBIC"), request) for row in _BESIDE_CUBIC)


def charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    """Each figure whose table was run."""
    run = {row["table"] for row in rows}
    made: dict[str, Chart] = {}
    if "12" in run:
        made["figure-10"] = _blocks(request, results)
        made["figure-11"] = _running(request, results)
    if "14" in run:
        made["figure-13"] = _windows(request, results)
    return made


class _Samples:
    """A flow's samples, by column."""

    def __init__(self, samples: Any, flow: int = 0) -> None:
        self._samples, self._flow = samples, flow
        self.times: Array = samples.ends

    def __getitem__(self, name: str) -> Array:
        return np.asarray(self._samples[name][:, self._flow], dtype=np.float64)


def _case(rows: Sequence[str], request: Request) -> Sampled:
    """One or two flows."""
    document = scenario("wifi-2.4", *rows) | {"warmup": "0 s"}
    del document["flows"][len(rows) :]
    return sampled(document, request, _KEPT)


def _run(rows: Sequence[str], request: Request, results: Results) -> list[_Samples]:
    samples = results[_case(rows, request)].flow.samples
    return [_Samples(samples, flow) for flow in range(len(rows))]


def _smooth(values: Array) -> Array:
    return np.convolve(values, np.ones(_SMOOTHED) / _SMOOTHED, "valid")


def _blocks(request: Request, results: Results) -> Chart:
    panels, told = [], []
    for row in _BLOCKS:
        [flow] = _run((row,), request, results)
        shown = slice(*np.searchsorted(flow.times, _STEADY))
        blocks, acks, gaps, count = (
            _smooth(flow[name][shown])
            for name in ("ack_blocks", "acks_received", "send_gap_sum", "send_gap_count")
        )
        times = flow.times[shown][: len(blocks)]
        with np.errstate(invalid="ignore"):
            series = {
                "blocks of ACKs per 10 ms": blocks / 10,
                "ACKs per block": acks / blocks,
                "interval of segments (10 us)": 1e5 * gaps / count,
            }
        lines = [
            Line(label, times, values, color_of(index))
            for index, (label, values) in enumerate(series.items())
        ]
        together = np.corrcoef(blocks, series["interval of segments (10 us)"])[0, 1]
        told.append(f"{row} {together:.2f}")
        panels.append(Panel("Time (s)", row, lines))
    note = f"Correlation of blocks and interval: {', '.join(told)}."
    return Chart("Figure 10", "2.4 GHz; means over 1 s.", panels, stacked=True, note=note)


def _running(request: Request, results: Results) -> Chart:
    flows = {row: _run((row,), request, results)[0] for row in _RUNNING}
    measures: Mapping[str, Callable[[_Samples], Array]] = {
        "Goodput (Mbit/s)": lambda flow: 8e-5 * flow["delivered_bytes"],
        "Congestion window (kB)": lambda flow: _KB * flow["cwnd"],
        "Smoothed RTT (ms)": lambda flow: 1e3 * flow["srtt"],
        "Segments sent again": lambda flow: flow["retransmissions"],
    }
    panels = [
        Panel(
            "Time (s)",
            label,
            [Line(r, f.times, of(f), color_of(i)) for i, (r, f) in enumerate(flows.items())],
        )
        for label, of in measures.items()
    ]
    return Chart("Figure 11", "2.4 GHz, one flow.", panels, stacked=True)


def _windows(request: Request, results: Results) -> Chart:
    panels = []
    for row in _BESIDE_CUBIC:
        flows = zip(("Flow-1", "CUBIC"), _run((row, "CUBIC"), request, results), strict=True)
        lines = [
            Line(name, flow.times, _KB * flow["cwnd"], color_of(index))
            for index, (name, flow) in enumerate(flows)
        ]
        panels.append(Panel("Time (s)", "Window (kB)", lines, title=row))
    return Chart("Figure 13", "2.4 GHz, beside Cubic.", panels)
