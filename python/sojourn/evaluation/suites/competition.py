"""Who starves and who dominates beside other TCP.

Either side has a fair share: the flows under test of what all deliver, the others of what they
deliver alone (they may want less than an even division, and what they lose is the harm of Ware et
al., 2019), each in proportion to its number of flows. RFC 5348 (section 1) calls a flow reasonably
fair within a factor of two of what a TCP flow would send under the same conditions. So a control
starves where its flows surely get less than half of their fair share, and dominates where the
others do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn.evaluation.suites.experiment import Measure
from sojourn.evaluation.suites.run import Place, Request
from sojourn.evaluation.suites.scores import write_csv
from sojourn.json_types import Scalar
from sojourn.metrics.columns import Values
from sojourn.statistics import Interval, mean_interval

FILE = "competition.csv"
COLUMNS = (
    *("experiment", "point", "cca", "share", "share_low", "share_high"),
    *("others_share", "others_low", "others_high", "outcome"),
)
#: The least part of a fair share that is no starvation.
ENOUGH = 0.5
_SHARE: Measure = ("group", "throughput_share_l4")
_HARM: Measure = ("group", "group_harm_throughput_l4")


@dataclass(frozen=True)
class Part:
    """What a side gets, as a part of its fair share: 1 is fair."""

    mean: float
    #: Of 95 % confidence; ``None`` where replications do not differ.
    interval: Interval | None

    @property
    def too_little(self) -> bool:
        """Whether it is surely less than enough."""
        return (self.interval.high if self.interval else self.mean) < ENOUGH

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Of the interval."""
        return (None, None) if self.interval is None else self.interval


@dataclass(frozen=True)
class Standing:
    """How a control fares at one point beside other TCP, and how that fares beside it."""

    experiment: str
    point: str
    cca: str
    own: Part
    others: Part

    @property
    def outcome(self) -> str:
        """Starved, dominant, both (where both lose) or neither."""
        told = ["starved"] * self.own.too_little + ["dominant"] * self.others.too_little
        return " and ".join(told) or "neither"

    def row(self) -> dict[str, Scalar]:
        """As the table has it."""
        where = (self.experiment, self.point, self.cca)
        parts = (value for part in (self.own, self.others) for value in (part.mean, *part.ends))
        return dict(zip(COLUMNS, (*where, *parts, self.outcome), strict=True))


def standings(places: Sequence[Place], request: Request) -> list[Standing]:
    """Of every control under test at every point where there is competition, the one first that
    is furthest from a fair share.
    """
    found = [one for control in request.controls for one in _of(control, places)]
    return sorted(found, key=lambda one: min(one.own.mean, one.others.mean))


def _of(control: str, places: Sequence[Place]) -> Iterator[Standing]:
    for place in places:
        share, harm = (place.values.get(measure, {}).get(control) for measure in (_SHARE, _HARM))
        if place.experiment.competes and share is not None and harm is not None:
            own, others = _part(share, place.tested), _part(1 - harm, 1 - place.tested)
            if own and others:
                yield Standing(place.experiment.name, place.point, control, own, others)


def _part(values: Values, fair: float) -> Part | None:
    known = values[~np.isnan(values)] / fair
    return Part(float(known.mean()), mean_interval(known)) if len(known) else None


def save(found: Sequence[Standing], directory: Path) -> None:
    """Writes ``competition.csv``."""
    write_csv(directory / FILE, COLUMNS, [standing.row() for standing in found])
