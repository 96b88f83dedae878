"""What section 2.2 says of latency reduction.

The criteria of ``slots-adapts`` were settled when first numbers had been seen; of the others the
history does not show it. The improved ZLR had its rule for adding zombies changed after
``slots-quicker`` had missed. The card has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.slots.cells import DELAY, GOODPUT, LATEST, QUEUED
from sojourn_reproductions.gnat2021.slots.values import ALIKE, WITHIN, printed, span, values

_IDG = "improved-dual-gradient"
_BOTTLENECKS = ("short", "long", "one source")
#: What a bottleneck that two streams share has, one after the other.
_PHASES = ("2 Mbit/s", "4 Mbit/s", "1 Mbit/s")
#: "Delays of seconds", ms.
_SECONDS = 1_000


def _baseline(rows: Sequence[Row]) -> Finding:
    name = "static backpressure"
    rates, late, most = _of_static(rows, name)
    wanted, off, packets = (
        printed("2.2", name, column) for column in (GOODPUT, "goodput_off_mbit", QUEUED)
    )
    shared = all(abs(rate - wanted) <= off for rate in rates)
    holds = shared and late >= _SECONDS and most >= packets
    return Finding(holds, f"{span(rates)} Mbit/s, up to {late:.0f} ms, {most:.0f} packets")


def _of_static(rows: Sequence[Row], name: str) -> tuple[list[float], float, float]:
    """Goodputs of five groups, the largest delay, packets in the fullest queue."""
    rates, late, most = (
        values(rows, "2.2", column, f"{name} phase") for column in (GOODPUT, LATEST, QUEUED)
    )
    return rates, late[0], most[0]


def _static(rows: Sequence[Row]) -> Finding:
    name = f"static {_IDG}"
    rates, late, most = _of_static(rows, name)
    wanted = printed("2.2", "static backpressure", GOODPUT)
    short = late <= printed("2.2", name, LATEST) and most <= printed("2.2", name, QUEUED)
    holds = min(rates) >= (1 - ALIKE) * wanted and short
    return Finding(holds, f"{span(rates)} Mbit/s, up to {late:.1f} ms, {most:.1f} packets")


def _constraint(rows: Sequence[Row]) -> Finding:
    queued = [
        values(rows, "2.2", QUEUED, f"static {name} phase")[0] for name in ("dual-gradient", _IDG)
    ]
    return Finding(queued[0] >= 2 * queued[1], f"{queued[0]:.1f} and {queued[1]:.1f} packets")


def _by_phase(rows: Sequence[Row], column: str, queues: str, phase: str) -> list[float]:
    return [
        value
        for name in _BOTTLENECKS
        for value in values(rows, "2.2", column, f"{name} {queues} phase={phase}")
    ]


def _stuck(rows: Sequence[Row]) -> Finding:
    rates = _by_phase(rows, GOODPUT, _IDG, "4 Mbit/s")
    delays = _by_phase(rows, DELAY, _IDG, "4 Mbit/s")
    shared = printed("2.2", "backpressure", GOODPUT, "4 Mbit/s")
    numbers = f"{span(rates)} of {shared:g} Mbit/s, {span(delays)} ms"
    return Finding(max(rates) <= 0.75 * shared and max(delays) <= 50, numbers)


def _worse(rows: Sequence[Row]) -> Finding:
    rates = _by_phase(rows, GOODPUT, _IDG, "1 Mbit/s")
    late = [
        [1e-3 * value for value in _by_phase(rows, LATEST, queues, "1 Mbit/s")]
        for queues in (_IDG, "backpressure")
    ]
    wanted = printed("2.2", _IDG, GOODPUT, "1 Mbit/s")
    holds = all(abs(rate / wanted - 1) <= ALIKE for rate in rates)
    worse = all(one > other for one, other in zip(*late, strict=True))
    numbers = f"{span(rates)} Mbit/s; at last {span(late[0])} and {span(late[1])} s"
    return Finding(holds and worse, numbers)


def _adapts(queues: str, rows: Sequence[Row]) -> Finding:
    shares = []
    for phase in _PHASES:
        half = float(phase.partition(" ")[0]) / 2
        shares += [rate / half for rate in _by_phase(rows, GOODPUT, queues, phase)]
    near = all(abs(share - 1) <= ALIKE for share in shares)
    return Finding(near, f"{span(shares)} of an equal share")


def _quicker(rows: Sequence[Row]) -> Finding:
    ratios = []
    for phase in _PHASES:
        pairs = zip(
            _by_phase(rows, DELAY, "improved-zombies", phase),
            _by_phase(rows, DELAY, "backpressure", phase),
            strict=True,
        )
        ratios += [one / other for one, other in pairs]
    return Finding(max(ratios) <= 0.25, f"{span(ratios)} of the delay of backpressure")


def _improved(rows: Sequence[Row]) -> Finding:
    most = [
        values(rows, "2.2", QUEUED, f"static {name} phase")[0]
        for name in ("improved-zombies", "zombies")
    ]
    return Finding(most[0] < most[1], f"{most[0]:.1f} and {most[1]:.1f} packets")


STATEMENTS = (
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
            f"{WITHIN}, in each network",
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
)
