"""Running samples of single controls on the real paths: figures 3 to 5 and 7 to 9."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn.engine import simulate
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.metrics.convergence import WINDOW
from sojourn.papers.lin2020.runs import scenario
from sojourn.papers.statements import Row
from sojourn.scenario import validated

_KB = 1.448
#: The figures' paths and controls.
_SHOWN = {
    "figure-3": ("path-lan", ("BBR", "CUBIC")),
    "figure-4": ("path-wan-1", ("BBR", "Scalable", "YeAH", "CUBIC")),
    "figure-5": ("path-wan-2", ("BBR", "CUBIC")),
    "figures-7-9-lan": ("path-lan", ("CUBIC", "BBR", "YeAH")),
    "figures-7-9-wan-2": ("path-wan-2", ("CUBIC", "BBR", "YeAH")),
}


def traces(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Windows and round trips over time, where table 11 was run."""
    if not any(row["table"] == "11" for row in rows):
        return {}
    return {name: _chart(name, *shown) for name, shown in _SHOWN.items()}


def _chart(name: str, path: str, controls: Sequence[str]) -> Chart:
    windows, delays = [], []
    for index, row in enumerate(controls):
        document = scenario(path, row)
        del document["sweep"]
        samples = simulate(validated(document).canonical)[0].flow.samples
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
