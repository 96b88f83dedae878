"""Cells of the outages: 3.2.7 to 3.2.10."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from sojourn.metrics import RunData
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.gnat2021.sliq import series
from sojourn_reproductions.gnat2021.sliq.scenarios import document, key, sampled
from sojourn_reproductions.gnat2021.sliq.series import CLIENT, SERVER

OUTAGES = "sliq_outages"
#: Experiment and length of the outage in seconds, by section.
LENGTHS: Mapping[str, tuple[str, float]] = {
    "3.2.7": ("outage-short", 1.0),
    "3.2.8": ("outage-long", 10.0),
    "3.2.9": ("outage-short-one-way", 1.0),
    "3.2.10": ("outage-long-one-way", 10.0),
}
SIDES = {"client": CLIENT, "server": SERVER}
#: When the outages begin, s; before, the rate is taken from 5 s on.
BEGINS, BEFORE = 10.0, 5.0
#: The rate is back at this share of the one before.
BACK = 0.9


def cells(section: str, request: Request) -> Iterator[Cell]:
    """What each side sends, and how long it takes the other one for gone."""
    experiment, length = LENGTHS[section]
    case = sampled(document(experiment, request))
    measures: Mapping[str, Callable[..., float | None]] = {
        "before_mbit": _before,
        "left_percent": partial(_left, length),
        "back_after_s": partial(_back, length),
        "outage_mode_s": _mode,
    }
    for side, number in SIDES.items():
        for column, measure in measures.items():
            keys = key(section, OUTAGES, side, column)
            yield Cell(keys, None, [(case,)], partial(measure, number))


def _before(side: int, data: RunData) -> float:
    return series.sent(data, side).mean(BEFORE, BEGINS)


def _left(length: float, side: int, data: RunData) -> float:
    """What is sent in the second half of the outage, of the rate before."""
    rate = series.sent(data, side).mean(BEGINS + length / 2, BEGINS + length)
    return 100 * rate / _before(side, data)


def _back(length: float, side: int, data: RunData) -> float | None:
    rates = series.sent(data, side)
    return rates.until(BACK * _before(side, data), BEGINS + length)


def _mode(side: int, data: RunData) -> float:
    column = "outage_time" if side == CLIENT else "peer_outage_time"
    return float(data.flow.samples[column].sum())
