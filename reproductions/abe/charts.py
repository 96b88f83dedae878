"""The figures, as the slides show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sojourn.campaign.cases import Results
from sojourn.figures.chart import Chart, Heat, Line, Panel, color_of, dash_of
from sojourn.reproduction.paper import Request
from sojourn_reproductions.abe import trade_off
from sojourn_reproductions.abe.cells import PATIENCE
from sojourn_reproductions.abe.runs import queueing_delay, windows
from sojourn_reproductions.abe.trade_off import LONG_RTT, Curve
from sojourn_reproductions.abe.values import (
    AQMS,
    BACKOFF,
    CCAS,
    CONVERGENCE,
    NAMES,
    RECOMMENDED,
    SHORT_FLOWS,
    STANDARD,
    TRACE,
    Pair,
    Row,
    pairs,
)

Named = Iterator[tuple[str, Chart]]
_CUT = f"A dash: one of the two did not converge within {PATIENCE:g} s."


def charts(rows: Sequence[Row], request: Request, results: Results) -> Mapping[str, Chart]:
    """The figures of those experiments that were run."""
    made: dict[str, Chart] = {}
    experiments = {row["experiment"] for row in rows}
    if TRACE in experiments:
        made["trace"] = windows(request, results)
    if BACKOFF in experiments:
        made["queueing-delay"] = queueing_delay(request, results)
    for make in (_backoff, _convergence, _trade_off, _short_flows):
        try:
            made |= make(rows)
        except KeyError:
            continue
    return made


def _backoff(rows: Sequence[Row]) -> Named:
    for cca in CCAS:
        found = pairs(rows, BACKOFF, "mean_throughput_l4", cca=cca)
        panels = [_over_beta(found, a, "Throughput gain (%)", "gain") for a in AQMS]
        caption = f"Over standard backoff, beta_ecn = {STANDARD[cca]:g}; one line per RTT."
        yield f"gain-{cca}", Chart(f"Throughput gain of {NAMES[cca]}", caption, panels)
        found = pairs(rows, BACKOFF, "p50_rtt_l4", cca=cca)
        panels = [_over_beta(found, a, "Change of the median RTT (ms)", "rise") for a in AQMS]
        yield f"rtt-{cca}", Chart(f"Median RTT of {NAMES[cca]}", caption, panels)


def _over_beta(found: Sequence[Pair], aqm: str, label: str, value: str) -> Panel:
    lines = []
    for index, rtt in enumerate(sorted({p.rtt for p in found})):
        chosen = [p for p in found if (p.aqm, p.rtt) == (aqm, rtt)]
        x, y = [p.beta_ecn for p in chosen], [getattr(p, value) for p in chosen]
        lines.append(Line(f"{rtt:g} ms", x, y, color_of(index), dash=dash_of(index)))
    return Panel(f"beta_ecn ({NAMES[aqm]})", label, lines)


def _convergence(rows: Sequence[Row]) -> Named:
    found = pairs(rows, CONVERGENCE, "convergence_time")
    for beta in sorted({p.beta_ecn for p in found}):
        chosen = [p for p in found if p.beta_ecn == beta]
        standard = beta == STANDARD["reno"]
        panels = [_heat([p for p in chosen if p.aqm == a], NAMES[a], standard) for a in AQMS]
        kind = "Convergence time" if standard else "Relative convergence time"
        caption = f"Two NewReno flows, beta_ecn = {beta:g}. {_CUT}"
        yield f"convergence-{beta:g}", Chart(kind, caption, panels, stacked=True)


def _heat(found: Sequence[Pair], aqm: str, standard: bool) -> Panel:
    rates, rtts = sorted({p.rate for p in found}), sorted({p.rtt for p in found})
    values = np.full((len(rates), len(rtts)), np.nan)
    for p in found:
        if max(p.value, p.standard) < PATIENCE:
            shown = p.value if standard else p.ratio
            values[rates.index(p.rate), rtts.index(p.rtt)] = shown
    label, middle = ("s", None) if standard else ("relative to 0.5", 1.0)
    names = [f"{r:g}" for r in rtts], [f"{r:g}" for r in rates]
    heat = Heat(*names, values, label, log=True, middle=middle)
    return Panel("RTT (ms)", f"{aqm}: Mbit/s", [], heat=heat)


def _trade_off(rows: Sequence[Row]) -> Named:
    curves = [trade_off.convergence_curve(rows, a) for a in AQMS]
    caption = (
        f"Mean gain at RTTs from {LONG_RTT:g} ms on, one point per beta_ecn; star: RFC 8511's."
    )
    yield (
        "trade-off",
        Chart(
            "What a gentler backoff gains and costs",
            caption,
            [
                _curves("Change of the median RTT (ms)", _delay_curves(rows)),
                _curves("Relative convergence time (NewReno)", curves),
            ],
        ),
    )


def _delay_curves(rows: Sequence[Row]) -> list[Curve]:
    return [trade_off.delay_curve(rows, a, c) for c in CCAS for a in AQMS]


def _curves(x_label: str, curves: Sequence[Curve]) -> Panel:
    lines = []
    for index, curve in enumerate(curves):
        color, name = color_of(index), f"{NAMES[curve.cca]}, {NAMES[curve.aqm]}"
        lines.append(Line(name, curve.cost, curve.gain, color))
        lines.append(Line("", curve.cost, curve.gain, color, "mark"))
        if RECOMMENDED[curve.cca] in curve.beta_ecn:
            at = curve.beta_ecn.index(RECOMMENDED[curve.cca])
            lines.append(Line("", [curve.cost[at]], [curve.gain[at]], color, "star"))
    return Panel(x_label, "Throughput gain (%)", lines)


def _short_flows(rows: Sequence[Row]) -> Named:
    for cca in CCAS:
        found = pairs(rows, SHORT_FLOWS, "flow_completion_time_l4", cca=cca)
        abe = [p for p in found if p.beta_ecn == RECOMMENDED[cca]]
        caption = f"With beta_ecn = {RECOMMENDED[cca]:g} over standard backoff; one line per RTT."
        panels = [_over_size([p for p in abe if p.aqm == a], NAMES[a]) for a in AQMS]
        title = f"Completion time of short {NAMES[cca]} flows"
        yield f"short-flows-{cca}", Chart(title, caption, panels)


def _over_size(found: Sequence[Pair], aqm: str) -> Panel:
    lines = []
    for index, rtt in enumerate(sorted({p.rtt for p in found})):
        chosen = [p for p in found if p.rtt == rtt]
        x, y = [p.size for p in chosen], [p.ratio for p in chosen]
        lines.append(Line(f"{rtt:g} ms", x, y, color_of(index), dash=dash_of(index)))
    return Panel(f"Size (kB, {aqm})", "Relative completion time", lines, from_zero=False)
