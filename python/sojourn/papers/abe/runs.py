"""Figures of single runs, which are run again for them: what is stored has no samples."""

from __future__ import annotations

import numpy as np

from sojourn.engine import simulate
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.metrics import RunData
from sojourn.metrics.columns import ratio
from sojourn.papers.abe.cells import scenario
from sojourn.papers.abe.values import BACKOFF, NAMES, RECOMMENDED, STANDARD, TRACE
from sojourn.scenario import Document, set_path, validated
from sojourn.sweeps.expand import plan

#: What stands for congestion; marks are dashed because they may coincide with losses.
_SIGNALS = (("losses", "solid"), ("marks", "dashed"), ("marks, beta_ecn = 0.85", "solid"))
#: So short that a sample holds a few packets, and its mean delay is theirs.
_FINE = "5 ms"


def windows() -> Chart:
    """The window over time, with losses, with marks, and with marks and ABE."""
    panels: dict[str, list[Line]] = {}
    for point in plan(validated(scenario(TRACE))):
        aqm = point.canonical["topology"]["bottleneck"]["queue"]["kind"]
        lines = panels.setdefault(aqm, [])
        index = len(lines)
        samples = simulate(point.canonical)[0].flow.samples
        cwnd = samples["cwnd"][:, 0]
        name, dash = _SIGNALS[index]
        lines.append(Line(name, samples.ends, cwnd, color_of(index), dash=dash))
    return Chart(
        "Window of one Cubic flow at 20 Mbit/s and 80 ms",
        "Standard backoff after losses (no ECN), after marks, and alternative backoff after marks.",
        [
            Panel("Time (s)", f"{NAMES[aqm]}: cwnd (packets)", lines)
            for aqm, lines in panels.items()
        ],
        stacked=True,
    )


def queueing_delay() -> Chart:
    """Its distribution with standard and with recommended backoff at 80 ms."""
    document = scenario(BACKOFF)
    queues = document.pop("sweep")["grid"]["topology.bottleneck.queue"]
    document["sample_interval"] = _FINE
    panels = []
    for queue in queues:
        set_path(document, "topology.bottleneck.queue", queue)
        aqm = validated(document).canonical["topology"]["bottleneck"]["queue"]["kind"]
        panels.append(
            Panel(f"{NAMES[aqm]}: queueing delay (ms)", "Share of time", _ecdfs(document))
        )
    caption = "One flow at 10 Mbit/s and 80 ms: packets' mean delay in every 5 ms."
    return Chart("Distribution of queueing delay", caption, panels)


def _ecdfs(document: Document) -> list[Line]:
    lines = []
    for index, cca in enumerate(STANDARD):
        for backoff, dash in ((STANDARD, "dashed"), (RECOMMENDED, "solid")):
            control = {"kind": cca, "beta_ecn": backoff[cca]}
            if cca == "cubic":
                control["version"] = "linux-4.9"
            set_path(document, "flows.0.cca", control)
            delays = _delays(simulate(validated(document).canonical)[0])
            share = np.arange(1, len(delays) + 1) / len(delays)
            name = f"{NAMES[cca]}, {backoff[cca]:g}"
            lines.append(Line(name, delays, share, color_of(index), "step", dash))
    return lines


def _delays(run: RunData) -> np.ndarray:
    """Mean sojourn times per sample, ms, in order."""
    samples = run.link.samples
    counted = run.link.counted
    delays = ratio(samples["sojourn_sum"][counted, 0], samples["sojourn_count"][counted, 0])
    return np.sort(1e3 * delays[~np.isnan(delays)])
