"""What sections 3.1.3, 3.1.6, 3.1.8 and 3.1.9 say of their plots: one control as links change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from sojourn.reproduction.paper import Request
from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.sliq.changing import (
    AFTER,
    CAPACITY,
    DELAY,
    SHARING,
    SPEED,
    unequal_until,
)
from sojourn_reproductions.gnat2021.sliq.filled import FULL, filled
from sojourn_reproductions.gnat2021.sliq.measured import listed, named, value, values
from sojourn_reproductions.gnat2021.sliq.scenarios import SLIQ, document
from sojourn_reproductions.gnat2021.sliq.steps import phases

_CUBIC, _COPA = SLIQ


_BOTH = [f"{control}_filled_percent" for control in SLIQ]


def _compared(table: str, row: str, rows: Sequence[Row]) -> tuple[float, float]:
    return value(rows, table, row, _CUBIC), value(rows, table, row, _COPA)


def _fairer(rows: Sequence[Row]) -> Finding:
    cubic, copa = _compared(SHARING, "difference_percent", rows)
    return Finding(copa < cubic, f"difference of their sum: Cubic {cubic:.1f}, Copa {copa:.1f} %")


def _fair_late(rows: Sequence[Row]) -> Finding:
    until = unequal_until()
    before = value(rows, SHARING, f"difference_before_{until:g}_s_percent", _CUBIC)
    after = value(rows, SHARING, f"difference_{until:g}_to_60_s_percent", _CUBIC)
    told = f"before {until:g} s {before:.1f}, from then to 60 s {after:.1f} %"
    return Finding(before > after, told)


def _no_loss(rows: Sequence[Row]) -> Finding:
    cubic, copa = _compared(SHARING, "dropped_percent", rows)
    return Finding(copa < cubic and copa <= 0.5, f"dropped: Cubic {cubic:.2f}, Copa {copa:.2f} %")


def _as_fast(rows: Sequence[Row]) -> Finding:
    cubic, copa = _compared(SHARING, "full_after_s", rows)
    return Finding(copa <= cubic + 1, f"Cubic {cubic:g}, Copa {copa:g} s")


def _cubic_slow(rows: Sequence[Row]) -> Finding:
    cubic, copa = _compared(DELAY, "full_after_s", rows)
    return Finding(cubic > copa and copa <= 3, f"full after: Cubic {cubic:g}, Copa {copa:g} s")


def _copa_dips(rows: Sequence[Row]) -> Finding:
    dips = [*values(rows, DELAY, _COPA, begin=AFTER).values()]
    return Finding(all(dip < 90 for dip in dips), f"least: {listed(dips)} % of before")


def _copa_waits(rows: Sequence[Row]) -> Finding:
    waits = value(rows, DELAY, "full_again_s_after_110_s", _COPA)
    return Finding(15 <= waits <= 25, f"{waits:g} s")


def _cubic_trouble(rows: Sequence[Row]) -> Finding:
    last = value(rows, DELAY, "mean_percent_110_to_160_s", _CUBIC)
    middle = value(rows, DELAY, "mean_percent_20_to_110_s", _CUBIC)
    return Finding(last < 90 and middle >= 95, f"20 to 110 s {middle:.1f}, then {last:.1f} %")


def _follows(control: str, rows: Sequence[Row]) -> Finding:
    found, rates = values(rows, CAPACITY, f"{control}_median"), _rates()
    off = [
        (f"{rates[at]:g}", estimate)
        for at, estimate in found.items()
        if not (control == _CUBIC and rates[at] == 1) and abs(estimate / rates[at] - 1) > 0.15
    ]
    return Finding(not off, named(off) if off else f"{listed(found.values())} Mbit/s")


def _rates() -> Mapping[str, float]:
    """Of 3.1.9's phases, by when they begin, Mbit/s."""
    return {f"{p.begin:g}": p.rate for p in phases(document("capacity", Request()))}


def _misestimate(rows: Sequence[Row]) -> Finding:
    least = value(rows, CAPACITY, "from_s=30", f"{_CUBIC}_least")
    return Finding(4 <= least <= 7, f"least estimate {least:.2f} Mbit/s")


def _no_overshoot(rows: Sequence[Row]) -> Finding:
    rates = _rates()
    over = [
        (f"{control} at {rates[at]:g}", most / rates[at])
        for control in SLIQ
        for at, most in values(rows, CAPACITY, f"{control}_most").items()
        if not (control == _CUBIC and rates[at] == 1)
    ]
    worst = max(over, key=lambda pair: pair[1])
    return Finding(worst[1] <= 1.2, f"most: {worst[0]} Mbit/s, {worst[1]:.2f} times the rate")


STATEMENTS = (
    Statement(
        "sharing-full",
        "3.1.3",
        "The two flows keep the channel full",
        FULL.format(95),
        partial(filled, SHARING, "3.1.3", 95, _BOTH),
    ),
    Statement(
        "copa-shares-better",
        "3.1.3",
        "Copa's flows share better than Cubic's",
        "mean difference of the goodputs, of their sum, is smaller",
        _fairer,
    ),
    Statement(
        "cubic-shares-late",
        "3.1.3",
        "Cubic's flows do not share equally until about 33 s; then it is better",
        "mean difference before 33 s is larger than from 33 to 60 s",
        _fair_late,
    ),
    Statement(
        "copa-without-drops",
        "3.1.3",
        "Cubic sends more than the channel carries, Copa just about what it does",
        "Copa loses less than Cubic at the buffer, at most 0.5 % of its packets",
        _no_loss,
    ),
    Statement(
        "copa-as-fast",
        "3.1.3",
        "At first Copa's flows fill 20 Mbit/s just about as fast as Cubic's",
        "the first second above 90 % is at most a second later",
        _as_fast,
    ),
    Statement(
        "speed-full",
        "3.1.6",
        "Both fill the link at each of the rates",
        FULL.format(95),
        partial(filled, SPEED, "3.1.6", 95, _BOTH),
    ),
    Statement(
        "copa-starts-quickly",
        "3.1.8",
        "At 300 ms Cubic starts slowly; Copa is at 10 Mbit/s within the first couple of seconds",
        "Copa's first second above 90 % begins by 3 s and before Cubic's",
        _cubic_slow,
    ),
    Statement(
        "copa-drops-as-delay-grows",
        "3.1.8",
        "Copa's rate drops noticeably at each growth of the delay",
        "the least half second of the next 5 s is below 90 % of the 5 s before",
        _copa_dips,
    ),
    Statement(
        "copa-waits-20-s",
        "3.1.8",
        "From 100 to 300 ms Copa takes about 20 s to send at the proper rate again",
        "15 to 25 s until three seconds in a row are above 90 %",
        _copa_waits,
    ),
    Statement(
        "cubic-trouble-at-300-ms",
        "3.1.8",
        "Cubic keeps the link full in between, and has trouble in the last 50 s, at 300 ms",
        "at least 95 % from 20 to 110 s, below 90 % after",
        _cubic_trouble,
    ),
    Statement(
        "cubic-follows-capacity",
        "3.1.9",
        "Cubic's estimates follow the capacity, but at 1 Mbit/s",
        "their median in the last 5 s of each phase is within 15 %, 1 Mbit/s left out",
        partial(_follows, _CUBIC),
    ),
    Statement(
        "cubic-misestimates-1-mbit",
        "3.1.9",
        "At 1 Mbit/s Cubic's estimates only drop to 5.4 Mbit/s",
        "the least one is from 4 to 7 Mbit/s",
        _misestimate,
    ),
    Statement(
        "copa-follows-capacity",
        "3.1.9",
        "Copa's estimates follow the capacity at all rates",
        "their median in the last 5 s of each phase is within 15 %",
        partial(_follows, _COPA),
    ),
    Statement(
        "no-overshooting",
        "3.1.9",
        "The estimates do not overshoot",
        "from 2 s after each change none is above 1.2 times the rate; Cubic at 1 Mbit/s left out",
        _no_overshoot,
    ),
)
