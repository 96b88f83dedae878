"""What sections 2.1, 2.2 and 2.4 say.

The criteria of ``slots-slow``, ``slots-noisier``, ``slots-smaller`` and ``slots-adapts`` were
settled when first numbers had been seen, the others' before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.rows import measured
from sojourn_reproductions.gnat2021.slots.cells import (
    DELAY,
    GOODPUT,
    LATEST,
    NOISE,
    QUEUED,
    SETTLED,
    SIGNAL,
    TABLE,
)

_ALIKE = 0.15
_IDG = "improved-dual-gradient"
_BOTTLENECKS = ("short", "long", "one source")


def _values(rows: Sequence[Row], section: str, column: str, part: str) -> list[float]:
    return [*measured(rows, TABLE, section, column, f"run={part}").values()]


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.3g} to {max(values):.3g}"


def _sustained(rows: Sequence[Row]) -> Finding:
    rates = _values(rows, "2.1", GOODPUT, "")
    coded = [rate for name in ("ring", "two ways", "butterfly") for rate in _coded(rows, name)]
    return Finding(min(coded) >= 3.6, f"{_range(coded)} Mbit/s coded, {_range(rates)} in all runs")


def _coded(rows: Sequence[Row], name: str) -> list[float]:
    return _values(rows, "2.1", GOODPUT, f"{name} coded")


def _baseline(rows: Sequence[Row]) -> Finding:
    run = "static backpressure phase"
    rates, late = _values(rows, "2.2", GOODPUT, run), _values(rows, "2.2", LATEST, run)[0]
    most = _values(rows, "2.2", QUEUED, run)[0]
    holds = all(abs(rate - 1) <= 0.25 for rate in rates) and late >= 1_000 and most >= 50
    return Finding(holds, f"{_range(rates)} Mbit/s, up to {late:.0f} ms, {most:.0f} packets")


def _static(rows: Sequence[Row]) -> Finding:
    run = f"static {_IDG} phase"
    rates, late = _values(rows, "2.2", GOODPUT, run), _values(rows, "2.2", LATEST, run)[0]
    most = _values(rows, "2.2", QUEUED, run)[0]
    holds = min(rates) >= 0.85 and late <= 9 and most <= 8
    return Finding(holds, f"{_range(rates)} Mbit/s, up to {late:.1f} ms, {most:.1f} packets")


def _constraint(rows: Sequence[Row]) -> Finding:
    queued = [
        _values(rows, "2.2", QUEUED, f"static {name} phase")[0] for name in ("dual-gradient", _IDG)
    ]
    return Finding(queued[0] >= 2 * queued[1], f"{queued[0]:.1f} and {queued[1]:.1f} packets")


def _by_phase(rows: Sequence[Row], column: str, queues: str, phase: str) -> list[float]:
    return [
        value
        for name in _BOTTLENECKS
        for value in _values(rows, "2.2", column, f"{name} {queues} phase={phase}")
    ]


def _stuck(rows: Sequence[Row]) -> Finding:
    rates = _by_phase(rows, GOODPUT, _IDG, "4 Mbit/s")
    delays = _by_phase(rows, DELAY, _IDG, "4 Mbit/s")
    numbers = f"{_range(rates)} of 2 Mbit/s, {_range(delays)} ms"
    return Finding(max(rates) <= 1.5 and max(delays) <= 50, numbers)


def _worse(rows: Sequence[Row]) -> Finding:
    rates = _by_phase(rows, GOODPUT, _IDG, "1 Mbit/s")
    late = [_by_phase(rows, LATEST, queues, "1 Mbit/s") for queues in (_IDG, "backpressure")]
    holds = all(abs(rate / 0.5 - 1) <= _ALIKE for rate in rates)
    worse = all(one > other for one, other in zip(*late, strict=True))
    numbers = f"{_range(rates)} Mbit/s; at last {_range(late[0])} and {_range(late[1])} ms"
    return Finding(holds and worse, numbers)


def _adapts(queues: str, rows: Sequence[Row]) -> Finding:
    shares = []
    for phase, wanted in (("2 Mbit/s", 1.0), ("4 Mbit/s", 2.0), ("1 Mbit/s", 0.5)):
        shares += [rate / wanted for rate in _by_phase(rows, GOODPUT, queues, phase)]
    near = all(abs(share - 1) <= _ALIKE for share in shares)
    return Finding(near, f"{_range(shares)} of an equal share")


def _quicker(rows: Sequence[Row]) -> Finding:
    ratios = []
    for phase in ("2 Mbit/s", "4 Mbit/s", "1 Mbit/s"):
        pairs = zip(
            _by_phase(rows, DELAY, "improved-zombies", phase),
            _by_phase(rows, DELAY, "backpressure", phase),
            strict=True,
        )
        ratios += [one / other for one, other in pairs]
    return Finding(max(ratios) <= 0.25, f"{_range(ratios)} of the delay of backpressure")


def _improved(rows: Sequence[Row]) -> Finding:
    most = [
        _values(rows, "2.2", QUEUED, f"static {name} phase")[0]
        for name in ("improved-zombies", "zombies")
    ]
    return Finding(most[0] < most[1], f"{most[0]:.1f} and {most[1]:.1f} packets")


def _one(run: str, rows: Sequence[Row]) -> Finding:
    rates = _values(rows, "2.4", GOODPUT, f"{run} phase")
    near = all(abs(rate - 1) <= _ALIKE for rate in rates)
    return Finding(near, f"{_range(rates)} Mbit/s")


def _slow(rows: Sequence[Row]) -> Finding:
    slow, fast = (_values(rows, "2.4", SETTLED, f"each K={k} phase")[0] for k in ("15000", "3000"))
    return Finding(fast <= 0.5 * slow, f"{slow:.0f} and {fast:.0f} s")


def _no_gain(rows: Sequence[Row]) -> Finding:
    with_, without = (
        _values(rows, "2.4", GOODPUT, f"{name} K=15000 phase") for name in ("coded", "each")
    )
    ratios = [one / other for one, other in zip(with_, without, strict=True)]
    return Finding(all(abs(ratio - 1) <= 0.1 for ratio in ratios), f"{_range(ratios)} of it")


def _twice(name: str, rows: Sequence[Row]) -> Finding:
    rates = _values(rows, "2.4", GOODPUT, f"{name} K=15000 2:1 phase")
    ratios = [high / low for high in rates[:2] for low in rates[2:]]
    near = all(abs(ratio / 2 - 1) <= _ALIKE for ratio in ratios)
    return Finding(near, f"{_range(ratios)} to one")


def _noisier(rows: Sequence[Row]) -> Finding:
    noise = [_values(rows, "2.4", NOISE, f"{name} K=15000 phase")[0] for name in ("totals", "each")]
    return Finding(noise[0] > noise[1], f"{noise[0]:.1f} and {noise[1]:.1f} %")


def _smaller(rows: Sequence[Row]) -> Finding:
    sizes = [
        _values(rows, "2.4", SIGNAL, f"{name} K=15000 phase")[0] for name in ("totals", "each")
    ]
    return Finding(sizes[0] < sizes[1], f"{sizes[0]:.0f} and {sizes[1]:.0f} B")


_WITHIN = f"each receiver of each stream within {100 * _ALIKE:g} %"

STATEMENTS = (
    Statement(
        "slots-sustained",
        "2.1",
        "4 Mbit/s are sustained through all changes of links, with network coding",
        "each receiver has at least 3.6 Mbit/s in each interval, in each network",
        _sustained,
    ),
    Statement(
        "slots-baseline",
        "2.2",
        "Backpressure shares well, with delays of seconds and 50 packets in a queue",
        "each within 25 % of 1 Mbit/s; a sample of 1 s or more, 50 packets or more",
        _baseline,
    ),
    Statement(
        "slots-static",
        "2.2",
        "IDG has the same rates with delays under 9 ms and under 8 packets in a queue",
        "at least 0.85 Mbit/s each, no sample above 9 ms, at most 8 packets",
        _static,
    ),
    Statement(
        "slots-constraint",
        "2.2",
        "Without the constraint the dual gradient does not keep packets few",
        "at least twice as many packets in the fullest queue",
        _constraint,
    ),
    Statement(
        "slots-stuck",
        "2.2",
        "Once it has learnt, IDG does not use a faster bottleneck; delays stay near zero",
        "at most 1.5 of 2 Mbit/s, mean delays at most 50 ms, in each network",
        _stuck,
    ),
    Statement(
        "slots-worse",
        "2.2",
        "At a slower bottleneck IDG shares it, with delays that end above backpressure's",
        "0.5 Mbit/s within 15 %, and the largest delay above backpressure's, in each network",
        _worse,
    ),
    *(
        Statement(
            f"slots-adapts-{queues}",
            "2.2",
            f"{queues}: the bottleneck is shared equally at 2, 4 and 1 Mbit/s",
            f"{_WITHIN}, in each network",
            partial(_adapts, queues),
        )
        for queues in ("backpressure", "zombies", "improved-zombies")
    ),
    Statement(
        "slots-quicker",
        "2.2",
        "Improved ZLR reduces delays as IDG does, without its drawbacks",
        "mean delay at most a quarter of backpressure's in each interval and network",
        _quicker,
    ),
    Statement(
        "slots-improved",
        "2.2",
        "Improved ZLR keeps fewer packets in its queues than ZLR",
        "five groups: mean packets in the fullest queue of one",
        _improved,
    ),
    *(
        Statement(
            f"slots-one-{name}-{k}",
            "2.4",
            f"All flows get about 1 Mbit/s ({name}, K={k})",
            _WITHIN,
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
            f"each over each within {100 * _ALIKE:g} %",
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
