"""The tables: one experiment's places in rows, beta_ecn (or the RTT) across."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sojourn.reproduction.sheet import Sheet
from sojourn_reproductions.abe.cells import PATIENCE
from sojourn_reproductions.abe.trade_off import LONG_RTT, convergence_curve, delay_curve
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

#: Metrics of the windows over time, and their heads.
_TRACED = {
    "mean_throughput_l4": "Mbit/s",
    "mean_cwnd_l4": "cwnd",
    "total_retransmissions_l4": "retrans.",
    "total_qdisc_drops_l2": "drops",
    "total_qdisc_marks_ce_l2": "marks",
    "p50_qdisc_delay_l2": "median delay (ms)",
}
_PERCENTILES = ("p50_qdisc_delay_l2", "p95_qdisc_delay_l2", "p99_qdisc_delay_l2")


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """The tables of those experiments that were run."""
    for make in _SHEETS:
        try:
            yield from make(rows)
        except KeyError:
            continue


def _trace(rows: Sequence[Row]) -> Iterator[Sheet]:
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        if row["experiment"] == TRACE:
            line = lines.setdefault((NAMES[row["aqm"]], row["beta_ecn"]), {})
            line[row["metric"]] = row["measured"]
    if lines:
        body = [[*place, *(line.get(m) for m in _TRACED)] for place, line in lines.items()]
        header = ("AQM", "beta_ecn", *_TRACED.values())
        yield Sheet("trace", "One Cubic flow at 20 Mbit/s", header, body, words=2)


def _backoff(rows: Sequence[Row]) -> Iterator[Sheet]:
    tables: dict[str, tuple[str, str, Callable[[Pair], str]]] = {
        "gain": ("throughput gain (%)", "mean_throughput_l4", lambda p: f"{p.gain:+.1f}"),
        "rtt": ("change of the median RTT (ms)", "p50_rtt_l4", lambda p: f"{p.rise:+.1f}"),
    }
    for name, (title, metric, shown) in tables.items():
        for aqm in AQMS:
            for cca in CCAS:
                found = pairs(rows, BACKOFF, metric, aqm=aqm, cca=cca)
                gentler = [p for p in found if p.beta_ecn != STANDARD[cca]]
                yield _pivot(
                    f"{name}-{aqm}-{cca}",
                    f"{NAMES[cca]} on {NAMES[aqm]}, {title} over beta_ecn {STANDARD[cca]:g}",
                    ("RTT (ms)",),
                    [((f"{p.rtt:g}",), f"{p.beta_ecn:g}", shown(p)) for p in gentler],
                )


def _queueing_delay(rows: Sequence[Row]) -> Iterator[Sheet]:
    for aqm in AQMS:
        delays: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for metric in _PERCENTILES:
            for p in pairs(rows, BACKOFF, metric, aqm=aqm):
                if p.beta_ecn in (STANDARD[p.cca], RECOMMENDED[p.cca]):
                    place = (f"{p.rtt:g}",), f"{NAMES[p.cca]} {p.beta_ecn:g}"
                    delays.setdefault(place, []).append(f"{p.value:.1f}")
        yield _pivot(
            f"queueing-delay-{aqm}",
            f"Queueing delay on {NAMES[aqm]} (ms): median, 95th and 99th percentile",
            ("RTT (ms)",),
            [(*place, " ".join(values)) for place, values in delays.items()],
        )


def _trade_off(rows: Sequence[Row]) -> Iterator[Sheet]:
    body: list[list[Any]] = []
    for cca in CCAS:
        for aqm in AQMS:
            delay, slower = delay_curve(rows, aqm, cca), {}
            if cca == "reno":
                convergence = convergence_curve(rows, aqm)
                slower = dict(zip(convergence.beta_ecn, convergence.cost, strict=True))
            for beta, rise, gain in zip(delay.beta_ecn, delay.cost, delay.gain, strict=True):
                time = f"{slower[beta]:.2f}" if beta in slower else "-"
                place = NAMES[cca], NAMES[aqm], f"{beta:g}"
                body.append([*place, f"{gain:+.1f}", f"{rise:+.1f}", time])
    header = ("control", "AQM", "beta_ecn", "gain (%)", "RTT (ms)", "convergence")
    title = (
        f"What beta_ecn gains and costs: mean throughput gain and change of the median RTT at RTTs "
        f"from {LONG_RTT:g} ms on, median relative convergence time"
    )
    yield Sheet("trade-off", title, header, body, words=3)


def _convergence(rows: Sequence[Row]) -> Iterator[Sheet]:
    for aqm in AQMS:
        found = pairs(rows, CONVERGENCE, "convergence_time", aqm=aqm)
        yield _pivot(
            f"convergence-{aqm}",
            f"Two NewReno flows on {NAMES[aqm]}, convergence time: s at 0.5, then relative to it "
            "(>, <: one of the two did not converge within 60 s)",
            ("Mbit/s", "RTT (ms)"),
            [((f"{p.rate:g}", f"{p.rtt:g}"), f"{p.beta_ecn:g}", _relative(p)) for p in found],
        )


def _never_converged(rows: Sequence[Row]) -> Iterator[Sheet]:
    cut: dict[tuple[str, str], list[float]] = {}
    for row in (r for r in rows if r["metric"] == "never_converged"):
        at = cut.setdefault((row["aqm"], row["beta_ecn"]), [0.0, 0.0])
        at[0] += row["mean"] * row["replications"]
        at[1] += row["replications"]
    if cut:
        yield _pivot(
            "never-converged",
            f"Runs that did not converge within {PATIENCE:g} s",
            ("AQM",),
            [((NAMES[a],), b, f"{n:.0f} of {runs:.0f}") for (a, b), (n, runs) in cut.items()],
        )


def _relative(pair: Pair) -> str:
    """A time that was cut off makes the ratio a bound."""
    cut, standard_cut = pair.value >= PATIENCE, pair.standard >= PATIENCE
    if pair.beta_ecn == STANDARD[pair.cca]:
        return f"> {PATIENCE:g}" if cut else f"{pair.value:.2f}"
    if cut and standard_cut:
        return "both"
    return f"{'>' if cut else '<' if standard_cut else ''}{pair.ratio:.2f}"


def _short_flows(rows: Sequence[Row]) -> Iterator[Sheet]:
    for aqm in AQMS:
        for cca in CCAS:
            found = pairs(rows, SHORT_FLOWS, "flow_completion_time_l4", aqm=aqm, cca=cca)
            abe = [p for p in found if p.beta_ecn == RECOMMENDED[cca]]
            yield _pivot(
                f"short-flows-{aqm}-{cca}",
                f"Short {NAMES[cca]} flows on {NAMES[aqm]}, completion time (s) of standard "
                f"backoff and with beta_ecn {RECOMMENDED[cca]:g}, by RTT (ms)",
                ("kB",),
                [((f"{p.size:g}",), f"{p.rtt:g}", f"{p.standard:.2f} {p.value:.2f}") for p in abe],
            )


def _pivot(
    name: str,
    title: str,
    words: tuple[str, ...],
    entries: Sequence[tuple[tuple[str, ...], str, str]],
) -> Sheet:
    """A table from entries of row, column and what stands there."""
    columns = list(dict.fromkeys(column for _, column, _ in entries))
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row, column, text in entries:
        lines.setdefault(row, {})[column] = text
    body = [[*row, *(line.get(c, "-") for c in columns)] for row, line in lines.items()]
    return Sheet(name, title, (*words, *columns), body, words=len(words))


_SHEETS = (
    _trace,
    _backoff,
    _queueing_delay,
    _convergence,
    _never_converged,
    _trade_off,
    _short_flows,
)
