"""Figures 10 to 13 and 19: running samples over Wi-Fi, transfers, convergence times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.engine import simulate
from sojourn.figures.chart import Boxes, Chart, Line, Panel, color_of
from sojourn.papers.lin2020.runs import scenario
from sojourn.papers.lin2020.section import MEASURED
from sojourn.papers.lin2020.values import Values
from sojourn.papers.lin2020.wifi_tables import BANDS, QUANTILES, SIMULATED, TRANSFERS, at_quantile
from sojourn.papers.statements import Row
from sojourn.scenario import validated

Array = NDArray[np.float64]
_KB = 1.448
#: Samples of 100 ms that a moving mean takes together.
_SMOOTHED = 10
#: What figure 10 shows of a run, s.
_STEADY = (10.0, 30.0)


def charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Each figure whose table was run; samples are of seed 1."""
    run = {row["table"] for row in rows}
    made: dict[str, Chart] = {}
    if "12" in run:
        made |= {"figure-10": _blocks(), "figure-11": _samples()}
    if TRANSFERS in run:
        made[TRANSFERS] = _transfers(rows)
    if "14" in run:
        made["figure-13"] = _windows()
    if SIMULATED in run:
        made[SIMULATED] = _settling(rows)
    return made


class _Samples:
    """A flow's samples, by column."""

    def __init__(self, samples: Any, flow: int = 0) -> None:
        self._samples, self._flow = samples, flow
        self.times: Array = samples.ends

    def __getitem__(self, name: str) -> Array:
        return np.asarray(self._samples[name][:, self._flow], dtype=np.float64)


def _run(*rows: str) -> list[_Samples]:
    """One or two flows at 2.4 GHz."""
    document = scenario("wifi-2.4", *rows) | {"warmup": "0 s"}
    del document["sweep"], document["flows"][len(rows) :]
    samples = simulate(validated(document).canonical)[0].flow.samples
    return [_Samples(samples, flow) for flow in range(len(rows))]


def _smooth(values: Array) -> Array:
    return np.convolve(values, np.ones(_SMOOTHED) / _SMOOTHED, "valid")


def _blocks() -> Chart:
    panels, told = [], []
    for row in ("CUBIC", "BBR (fq)"):
        (flow,) = _run(row)
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


def _samples() -> Chart:
    flows = {row: _run(row)[0] for row in ("CUBIC", "NewReno")}
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


def _transfers(rows: Sequence[Row]) -> Chart:
    value = Values(rows, MEASURED)
    names = list(dict.fromkeys(row["row"] for row in rows if row["table"] == TRANSFERS))
    panels = []
    for band in BANDS:
        values = [[value(TRANSFERS, n, at_quantile(band, q)) for q in QUANTILES] for n in names]
        boxes = [Boxes(names, values, color_of(0))]
        panels.append(Panel("", "Goodput (Mbit/s)", [], boxes=boxes, title=f"{band} GHz"))
    return Chart("Figure 12", "Transfers of a large file.", panels)


def _windows() -> Chart:
    panels = []
    for row in ("NewReno", "BBR (fq)", "Westwood+", "Veno"):
        flows = zip(("Flow-1", "CUBIC"), _run(row, "CUBIC"), strict=True)
        lines = [
            Line(name, flow.times, _KB * flow["cwnd"], color_of(index))
            for index, (name, flow) in enumerate(flows)
        ]
        panels.append(Panel("Time (s)", "Window (kB)", lines, title=row))
    return Chart("Figure 13", "2.4 GHz, beside Cubic.", panels)


def _settling(rows: Sequence[Row]) -> Chart:
    value = Values(rows, MEASURED)
    names = list(dict.fromkeys(row["row"] for row in rows if row["table"] == SIMULATED))
    places = [float(index) for index in range(len(names))]
    aside = {"2.4": -0.1, "5": 0.1}
    lines = [
        Line(
            f"{band} GHz",
            [place + aside[band] for place in places],
            [value(SIMULATED, name, f"{band}GHz") for name in names],
            color_of(index),
            "mark",
        )
        for index, band in enumerate(BANDS)
    ]
    ticks = list(zip(places, names, strict=True))
    panel = Panel("", "Convergence time (s)", lines, ticks=ticks)
    return Chart("Figure 19, Wi-Fi", "Means over 30 s of samples.", [panel])
