"""Figures of single runs, of which the samples are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.campaign.cases import AnyCase, Results, Sampled
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.metrics import RunData
from sojourn.metrics.columns import ratio
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, apply_override, set_path, validated
from sojourn_reproductions.abe.cells import points, scenario
from sojourn_reproductions.abe.values import BACKOFF, NAMES, RECOMMENDED, STANDARD, TRACE

#: What stands for congestion; marks are dashed because they may coincide with losses.
_SIGNALS = (("losses", "solid"), ("marks", "dashed"), ("marks, beta_ecn = 0.85", "solid"))
#: So short that a sample holds a few packets, and its mean delay is theirs.
_FINE = "5 ms"
#: What is kept of the flows' samples; those of links are kept whole.
_KEPT = ("cwnd",)


def drawn(rows: Sequence[Mapping[str, Any]], request: Request) -> Iterator[AnyCase]:
    """The cases of the figures of those experiments that are shown."""
    experiments = {row["experiment"] for row in rows}
    if TRACE in experiments:
        yield from _traced(request)
    if BACKOFF in experiments:
        yield from (case for curves in _delayed(request).values() for case, _, _ in curves)


def _traced(request: Request) -> list[Sampled]:
    return [Sampled.of(point.canonical, keeps=_KEPT) for point in points(TRACE, request)]


def _aqm(case: Sampled) -> str:
    return str(case.canonical["topology"]["bottleneck"]["queue"]["kind"])


def windows(request: Request, results: Results) -> Chart:
    """The window over time, with losses, with marks, and with marks and ABE."""
    panels: dict[str, list[Line]] = {}
    for case in _traced(request):
        lines = panels.setdefault(_aqm(case), [])
        index = len(lines)
        samples = results[case].flow.samples
        name, dash = _SIGNALS[index]
        lines.append(Line(name, samples.ends, samples["cwnd"][:, 0], color_of(index), dash=dash))
    return Chart(
        "Window of one Cubic flow at 20 Mbit/s and 80 ms",
        "Standard backoff after losses (no ECN), after marks, and alternative backoff after marks.",
        [
            Panel("Time (s)", f"{NAMES[aqm]}: cwnd (packets)", lines)
            for aqm, lines in panels.items()
        ],
        stacked=True,
    )


def queueing_delay(request: Request, results: Results) -> Chart:
    """Its distribution with standard and with recommended backoff at 80 ms."""
    panels = []
    for aqm, curves in _delayed(request).items():
        lines = []
        for index, (case, name, dash) in enumerate(curves):
            delays = _delays(results[case])
            share = np.arange(1, len(delays) + 1) / len(delays)
            lines.append(Line(name, delays, share, color_of(index // 2), "step", dash))
        panels.append(Panel(f"{NAMES[aqm]}: queueing delay (ms)", "Share of time", lines))
    caption = "One flow at 10 Mbit/s and 80 ms: packets' mean delay in every 5 ms."
    return Chart("Distribution of queueing delay", caption, panels)


def _delayed(request: Request) -> dict[str, list[tuple[Sampled, str, str]]]:
    """By AQM, each curve's case, name and dash: of each control the standard and the recommended
    backoff.
    """
    document = scenario(BACKOFF)
    queues = document.pop("sweep")["grid"]["topology.bottleneck.queue"]
    document["sample_interval"] = _FINE
    for override in request.overrides:
        apply_override(document, override)
    curves: dict[str, list[tuple[Sampled, str, str]]] = {}
    for queue in queues:
        set_path(document, "topology.bottleneck.queue", queue)
        for curve in _of_controls(document):
            curves.setdefault(_aqm(curve[0]), []).append(curve)
    return curves


def _of_controls(document: Document) -> Iterator[tuple[Sampled, str, str]]:
    for cca in STANDARD:
        for backoff, dash in ((STANDARD, "dashed"), (RECOMMENDED, "solid")):
            control = {"kind": cca, "beta_ecn": backoff[cca]}
            if cca == "cubic":
                control["version"] = "linux-4.9"
            set_path(document, "flows.0.cca", control)
            case = Sampled.of(validated(document).canonical, keeps=_KEPT)
            yield case, f"{NAMES[cca]}, {backoff[cca]:g}", dash


def _delays(run: RunData) -> np.ndarray:
    """Mean sojourn times per sample, ms, in order."""
    samples = run.link.samples
    counted = run.link.counted
    delays = ratio(samples["sojourn_sum"][counted, 0], samples["sojourn_count"][counted, 0])
    return np.sort(1e3 * delays[~np.isnan(delays)])
