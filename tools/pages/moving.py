"""The moving picture of the first page: BBR beside Cubic, before a short and a long buffer.

``python -m tools.pages.moving`` runs ``experiments/catalogue/beside.toml`` with either buffer of
its grid and writes ``moving.webp``, and ``still.png`` for those who want nothing to move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from sojourn import data
from sojourn.figures.chart import color_of
from sojourn.result import run
from tools.pages import kept

SCENARIO = "experiments/catalogue/beside.toml"
BUFFERS = ("0.5 bdp", "8 bdp")
#: Pixels of the picture.
SIZE = (720, 300)
FRAMES = 60
#: How long a frame is shown, and the last one, ms.
_SHOWN, _AT_REST = 100, 3_000
#: How often all of them are shown: who reads on is not to be distracted.
_TIMES = 3
_DPI = 100
#: Samples that a rate is the mean of.
_SMOOTH = 5
_QUEUE = "#6b7280"


@dataclass(frozen=True)
class Seen:
    """What is drawn of a run: times (s), rates by label (Mbit/s), and the queue's delay (ms)."""

    buffer: str
    times: np.ndarray
    rates: dict[str, np.ndarray]
    delay: np.ndarray


def seen(buffer: str) -> Seen:
    """Runs the scenario with a buffer."""
    result = run(data.path(SCENARIO), overrides=[f'topology.bottleneck.queue.limit="{buffer}"'])
    samples, links = result.series.flows, result.series.links
    times = links["time"].to_numpy()
    step = np.diff(times, prepend=0.0)
    rates = {}
    for flow, label in enumerate(result.flows["label"]):
        delivered = samples.filter(flow=flow)["delivered_bytes"].to_numpy()
        rates[label] = _smooth(delivered * 8e-6 / step)
    waited, packets = (links[name].to_numpy() for name in ("sojourn_sum", "sojourn_count"))
    return Seen(buffer.replace("bdp", "BDP"), times, rates, 1e3 * waited / packets)


def _smooth(values: np.ndarray) -> np.ndarray:
    """Means over the last samples, fewer at the start."""
    sums = np.cumsum(values)
    sums[_SMOOTH:] -= sums[:-_SMOOTH].copy()
    return sums / np.minimum(np.arange(1, len(values) + 1), _SMOOTH)


def figure(runs: Sequence[Seen]) -> tuple[Figure, list[list[Line2D]]]:
    """The figure as it ends, and the lines of each run: its rates, then its delay."""
    made = Figure(figsize=(SIZE[0] / _DPI, SIZE[1] / _DPI), dpi=_DPI, layout="constrained")
    axes = made.subplots(2, len(runs), sharex=True, sharey="row", height_ratios=(3, 2))
    lines = [_panel(axes[:, column], run) for column, run in enumerate(runs)]
    axes[0, 0].set_ylabel("Mbit/s", fontsize=8)
    axes[1, 0].set_ylabel("queue (ms)", fontsize=8)
    return made, lines


def _panel(axes: Sequence[Axes], run: Seen) -> list[Line2D]:
    above, below = axes
    above.set_title(f"Buffer of {run.buffer}", fontsize=9)
    below.set_xlabel("time (s)", fontsize=8)
    lines = []
    for place, (label, rate) in enumerate(run.rates.items()):
        lines += above.plot(run.times, rate, color=color_of(place), linewidth=1.8, label=label)
    lines += below.plot(run.times, run.delay, color=_QUEUE, linewidth=1.4)
    above.set(xlim=(0, run.times[-1]), ylim=(0, 21))
    below.set_ylim(0, 350)
    above.legend(fontsize=8, frameon=False, loc="center right")
    for one in axes:
        one.tick_params(labelsize=7)
        one.spines[["top", "right"]].set_visible(False)
    return lines


def frames(runs: Sequence[Seen]) -> Iterator[Image.Image]:
    """Ever more of the runs; the last one is the whole figure."""
    made, lines = figure(runs)
    for frame in range(1, FRAMES + 1):
        for one, drawn in zip(runs, lines, strict=True):
            end = len(one.times) * frame // FRAMES
            for line, values in zip(drawn, (*one.rates.values(), one.delay), strict=True):
                line.set_data(one.times[:end], values[:end])
        page = BytesIO()
        made.savefig(page, dpi=_DPI)
        yield Image.open(page).convert("RGB")


def write(directory: Path) -> None:
    """Writes both pictures."""
    *first, last = frames([seen(buffer) for buffer in BUFFERS])
    last.save(directory / "still.png", optimize=True)
    first[0].save(
        directory / "moving.webp",
        save_all=True,
        append_images=[*first[1:], last],
        duration=[_SHOWN] * len(first) + [_AT_REST],
        loop=_TIMES,
        lossless=True,
    )


if __name__ == "__main__":
    write(kept.docs() / "_static")
