"""What sections 3.3.2 to 3.3.5 say of adaptive error control.

The criterion of ``efficiency-as-predicted`` was written beside its numbers, and the tables of 3.3.4
and 3.3.5 were known when those of their modes were; the card has more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.sliq import delays
from sojourn_reproductions.gnat2021.sliq.adaptive import (
    DEADLINES,
    EFFICIENCY,
    GOODPUT,
    MEASURED,
    PREDICTED,
    RATES,
)
from sojourn_reproductions.gnat2021.sliq.measured import value

_PATH = "aec_path_changes"
#: Mbit/s.
_LINK = 10.0
#: In these neither is nothing lost nor do timeouts rule, as the report says of 50 %.
_LOSSY = (0.1, 0.2, 0.3, 0.4)
#: Points that an efficiency may be off what is predicted.
_NEAR = 5.0


def _grid(rows: Sequence[Row], column: str) -> dict[tuple[float, int], float]:
    table = EFFICIENCY if column in (MEASURED, PREDICTED) else GOODPUT
    return {
        (rate, deadline): value(rows, table, f"per={rate:g},deadline_ms={deadline}", column)
        for rate in RATES
        for deadline in DEADLINES
    }


def _told(found: Mapping[tuple[float, int], float]) -> str:
    shown = [f"{100 * rate:g} %, {at} ms: {number:.3g}" for (rate, at), number in found.items()]
    return "; ".join(shown[:4]) + (f" and {len(shown) - 4} more" if len(shown) > 4 else "")


def _in_time(rows: Sequence[Row]) -> Finding:
    late = _grid(rows, "late_percent")
    hopeless = late.pop((0.0, 30))
    bad = {at: share for at, share in late.items() if share > 0.5}
    numbers = f"{len(late) - len(bad)} of {len(late)}; 0 %, 30 ms: {hopeless:.3g} % late"
    return Finding(not bad and hopeless > 50, f"{numbers}; {_told(bad)}" if bad else numbers)


def _modes(rows: Sequence[Row]) -> Finding:
    arq, fec = _grid(rows, "pure_arq_percent"), _grid(rows, "pure_fec_percent")
    wrong = {at: arq[at] for at in ((rate, 170) for rate in _LOSSY) if arq[at] <= 50}
    wrong |= {at: fec[at] for at in ((rate, 30) for rate in _LOSSY) if fec[at] <= 50}
    for at in ((rate, 70) for rate in _LOSSY[1:]):
        coded = 100 - arq[at] - fec[at]
        wrong |= {at: coded} if coded <= 50 else {}
    return Finding(not wrong, _told(wrong) if wrong else "as stated")


def _longer_is_better(rows: Sequence[Row]) -> Finding:
    rates = _grid(rows, "raw_goodput_mbit")
    pairs = list(itertools.pairwise(DEADLINES))
    falls = {
        (rate, after): rates[rate, after] - rates[rate, before]
        for rate in _LOSSY
        for before, after in pairs
        if rates[rate, after] < 0.98 * rates[rate, before]
    }
    return Finding(not falls, _told(falls) if falls else f"{len(_LOSSY)} rates of loss")


def _near_limit(rows: Sequence[Row]) -> Finding:
    rates = _grid(rows, "raw_goodput_mbit")
    shares = {(rate, 170): 100 * rates[rate, 170] / (_LINK * (1 - rate)) for rate in _LOSSY}
    return Finding(min(shares.values()) >= 90, f"{_told(shares)} %")


def _longer_is_more_efficient(rows: Sequence[Row]) -> Finding:
    shares = _grid(rows, MEASURED)
    pairs = {rate: (shares[rate, 30], shares[rate, 170]) for rate in _LOSSY}
    told = ", ".join(f"{100 * rate:g} %: {a:.0f} and {b:.0f}" for rate, (a, b) in pairs.items())
    return Finding(all(a < b and b >= 95 for a, b in pairs.values()), told)


def _as_predicted(rows: Sequence[Row]) -> Finding:
    shares, promised = _grid(rows, MEASURED), _grid(rows, PREDICTED)
    off = {(rate, at): shares[rate, at] - promised[rate, at] for rate in _LOSSY for at in DEADLINES}
    far = {at: points for at, points in off.items() if abs(points) > _NEAR}
    numbers = f"{len(off) - len(far)} of {len(off)}, on average {_mean_size(off):.1f} points off"
    return Finding(3 * len(far) <= len(off), f"{numbers}; {_told(far)}" if far else numbers)


def _mean_size(values: Mapping[tuple[float, int], float]) -> float:
    return sum(abs(each) for each in values.values()) / len(values)


def _mode(rows: Sequence[Row], table: str, row: str) -> tuple[str, float]:
    arq = value(rows, table, row, "pure_arq_percent")
    fec = value(rows, table, row, "pure_fec_percent")
    shares = {"Pure ARQ": arq, "Coded ARQ": 100 - arq - fec, "Pure FEC": fec}
    name = max(shares, key=shares.__getitem__)
    return name, shares[name]


def _as_printed(rows: Sequence[Row], table: str, column: str) -> Finding:
    right, told = True, []
    for line in published(table):
        name, share = _mode(rows, table, f"{column}={line[column]}")
        right &= name == line["mode"]
        told.append(f"{line[column]}: {name} {share:.0f} %")
    return Finding(right, ", ".join(told))


STATEMENTS = (
    Statement(
        "grid-in-time",
        "3.3.2",
        "99.5 % are delivered within the deadline at all points but 30 ms without loss",
        "at most 0.5 % late at each; there more than half",
        _in_time,
    ),
    Statement(
        "modes-by-deadline",
        "3.3.2",
        "170 ms are met by pure ARQ, 30 ms by pure FEC alone, such as 70 ms by coded ARQ",
        "more than half of the groups at 10 to 40 % loss; 70 ms from 20 % on",
        _modes,
    ),
    Statement(
        "longer-deadline-more-goodput",
        "3.3.2",
        "The longer the deadline, the higher the raw goodput",
        "at 10 to 40 % loss it never falls by more than 2 % from one deadline to the next",
        _longer_is_better,
    ),
    Statement(
        "pure-arq-near-limit",
        "3.3.2",
        "With 170 ms the raw goodput is close to the theoretical limit",
        "at least 90 % of it at 10 to 40 % loss",
        _near_limit,
    ),
    Statement(
        "efficiency-by-mode",
        "3.3.3",
        "Pure FEC is the least efficient, pure ARQ nearly perfect",
        "at 10 to 40 % loss 30 ms are below 170 ms, and these at least 95 %",
        _longer_is_more_efficient,
    ),
    Statement(
        "efficiency-as-predicted",
        "3.3.3",
        "Actual efficiencies are reasonably close to the predicted ones",
        "at 10 to 40 % loss two of three within 5 points",
        _as_predicted,
    ),
    Statement(
        "modes-of-deadlines",
        "3.3.4",
        "50 ms are met by pure FEC, 110 ms by coded ARQ, 170 ms by pure ARQ",
        "most of the groups, median over the seeds",
        lambda rows: _as_printed(rows, delays.TABLE, "deadline_ms"),
    ),
    Statement(
        "modes-while-loss-changes",
        "3.3.5",
        "Pure ARQ without loss, coded ARQ at 10 %, pure FEC at 20 %",
        "most of the groups of each phase",
        lambda rows: _as_printed(rows, _PATH, "from_s"),
    ),
)
