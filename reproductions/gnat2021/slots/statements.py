"""What sections 2.1 and 2.4 say.

The criteria of ``slots-slow``, ``slots-noisier`` and ``slots-smaller`` were settled when first
numbers had been seen; of the others the history does not show it (card).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.slots.cells import GOODPUT, NOISE, SETTLED, SIGNAL
from sojourn_reproductions.gnat2021.slots.values import ALIKE, WITHIN, printed, span, values


def _sustained(rows: Sequence[Row]) -> Finding:
    rates = values(rows, "2.1", GOODPUT, "")
    coded = [rate for name in ("ring", "two ways", "butterfly") for rate in _coded(rows, name)]
    least = 0.9 * printed("2.1", "coded", GOODPUT, "")
    return Finding(min(coded) >= least, f"{span(coded)} Mbit/s coded, {span(rates)} in all runs")


def _coded(rows: Sequence[Row], name: str) -> list[float]:
    return values(rows, "2.1", GOODPUT, f"{name} coded")


def _one(run: str, rows: Sequence[Row]) -> Finding:
    rates = values(rows, "2.4", GOODPUT, f"{run} phase")
    wanted = printed("2.4", "coded K=15000", GOODPUT)
    near = all(abs(rate / wanted - 1) <= ALIKE for rate in rates)
    return Finding(near, f"{span(rates)} Mbit/s")


def _slow(rows: Sequence[Row]) -> Finding:
    slow, fast = (values(rows, "2.4", SETTLED, f"each K={k} phase")[0] for k in ("15000", "3000"))
    return Finding(fast <= 0.5 * slow, f"{slow:.0f} and {fast:.0f} s")


def _no_gain(rows: Sequence[Row]) -> Finding:
    with_, without = (
        values(rows, "2.4", GOODPUT, f"{name} K=15000 phase") for name in ("coded", "each")
    )
    ratios = [one / other for one, other in zip(with_, without, strict=True)]
    return Finding(all(abs(ratio - 1) <= 0.1 for ratio in ratios), f"{span(ratios)} of it")


def _twice(name: str, rows: Sequence[Row]) -> Finding:
    rates = values(rows, "2.4", GOODPUT, f"{name} K=15000 2:1 phase")
    ratios = [high / low for high in rates[:2] for low in rates[2:]]
    wanted = printed("2.4", "coded K=15000 2:1", "ratio")
    near = all(abs(ratio / wanted - 1) <= ALIKE for ratio in ratios)
    return Finding(near, f"{span(ratios)} to one")


def _noisier(rows: Sequence[Row]) -> Finding:
    noise = [values(rows, "2.4", NOISE, f"{name} K=15000 phase")[0] for name in ("totals", "each")]
    return Finding(noise[0] > noise[1], f"{noise[0]:.1f} and {noise[1]:.1f} %")


def _smaller(rows: Sequence[Row]) -> Finding:
    sizes = [values(rows, "2.4", SIGNAL, f"{name} K=15000 phase")[0] for name in ("totals", "each")]
    return Finding(sizes[0] < sizes[1], f"{sizes[0]:.0f} and {sizes[1]:.0f} B")


STATEMENTS = (
    Statement(
        "slots-sustained",
        "2.1",
        "4 Mbit/s are sustained through all changes of links, with network coding",
        "each receiver has at least 3.6 Mbit/s in each interval, in each network",
        _sustained,
    ),
    *(
        Statement(
            f"slots-one-{name}-{k}",
            "2.4",
            f"All flows get about 1 Mbit/s ({name}, K={k})",
            WITHIN,
            partial(_one, f"{name} K={k}"),
        )
        for name in ("coded", "each", "totals")
        for k in (15_000, 3_000)
    ),
    Statement(
        "slots-slow",
        "2.4",
        "A large K converges slowly, a smaller one much sooner",
        "K=3000 settles in at most half of the time of K=15000",
        _slow,
    ),
    Statement(
        "slots-no-gain",
        "2.4",
        "Network coding makes no difference to goodput here",
        "within 10 % for each receiver of each stream",
        _no_gain,
    ),
    *(
        Statement(
            f"slots-twice-{name}",
            "2.4",
            f"The flow of priority 2 gets twice what the others do ({name})",
            f"each over each within {100 * ALIKE:g} %",
            partial(_twice, name),
        )
        for name in ("coded", "each", "totals")
    ),
    Statement(
        "slots-noisier",
        "2.4",
        "Totals make goodput noisier",
        "standard deviation over seconds above that of depths of each",
        _noisier,
    ),
    Statement(
        "slots-smaller",
        "2.4",
        "Totals take fewer bytes to tell than depths of each",
        "mean bytes of a message",
        _smaller,
    ),
)
