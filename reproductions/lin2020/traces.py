"""Running samples of single controls on the real paths: figures 3 to 5 and 7 to 9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.campaign.cases import AnyCase, Results, Sampled
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.metrics import RunData
from sojourn.metrics.convergence import WINDOW
from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.runs import sampled, scenario

_KB = 1.448
#: The figures' paths and controls.
_SHOWN = {
    "figure-3": ("path-lan", ("BBR", "CUBIC")),
    "figure-4": ("path-wan-1", ("BBR", "Scalable", "YeAH", "CUBIC")),
    "figure-5": ("path-wan-2", ("BBR", "CUBIC")),
    "figures-7-9-lan": ("path-lan", ("CUBIC", "BBR", "YeAH")),
    "figures-7-9-wan-2": ("path-wan-2", ("CUBIC", "BBR", "YeAH")),
}
#: Each path with each of its controls, once.
_PLACES = dict.fromkeys((path, row) for path, controls in _SHOWN.values() for row in controls)
_KEPT = ("cwnd", "srtt")


def drawn(rows: Sequence[Mapping[str, Any]], request: Request) -> Iterator[AnyCase]:
    """The cases of the figures, where table 11 is shown."""
    if any(row["table"] == "11" for row in rows):
        yield from (_case(*place, request) for place in _PLACES)


def _case(path: str, control: str, request: Request) -> Sampled:
    return sampled(scenario(path, control), request, _KEPT)


def charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    """Windows and round trips over time, where table 11 was run."""
    if not any(row["table"] == "11" for row in rows):
        return {}
    return {
        name: _chart(name, path, [(row, results[_case(path, row, request)]) for row in controls])
        for name, (path, controls) in _SHOWN.items()
    }


def _chart(name: str, path: str, runs: Sequence[tuple[str, RunData]]) -> Chart:
    windows, delays = [], []
    for index, (row, run) in enumerate(runs):
        samples = run.flow.samples
        times, cwnd = samples.ends, _KB * samples["cwnd"][:, 0]
        if name.startswith("figures-7"):
            whole = round(WINDOW / float(times[0]))
            cwnd = np.convolve(cwnd, np.ones(whole) / whole, "valid")
        windows.append(Line(row, times[-len(cwnd) :], cwnd, color_of(index)))
        delays.append(Line(row, times, 1e3 * samples["srtt"][:, 0], color_of(index)))
    panels = [Panel("Time (s)", "Congestion window (kB)", windows)]
    if not name.startswith("figures-7"):
        panels.append(Panel("Time (s)", "Smoothed RTT (ms)", delays))
    return Chart(
        name.replace("-", " ").capitalize(), path.removeprefix("path-"), panels, stacked=True
    )
