"""Verdicts on a control against others, and the table of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn import csv_table
from sojourn.evaluation import families
from sojourn.evaluation.suites.run import Place, Request
from sojourn.json_types import Scalar
from sojourn.metrics import Metric, metrics
from sojourn.metrics.columns import Values
from sojourn.statistics import Finding, Pair, mean_interval
from sojourn.store.files import write_atomically

FILE = "scores.csv"
COLUMNS = (
    *("experiment", "point", "metric", "cca", "value", "low", "high", "against", "verdict"),
    *("against_value", "difference", "p", "family"),
)
#: Where, of what, against whom.
_Case = tuple[Place, Metric, str, Pair]
#: Means closer than this share of the other's are the same.
MARGIN = 0.02


@dataclass(frozen=True)
class Score:
    """A control's value at a point, and the verdict against another one."""

    experiment: str
    point: str
    metric: Metric
    cca: str
    value: float | None
    low: float | None
    high: float | None
    against: str
    finding: Finding

    @property
    def relative(self) -> float:
        """The difference as a share of the other's value, infinite where that is zero."""
        if self.finding.difference is None or self.finding.b is None:
            return 0.0
        if self.finding.b == 0:
            return np.inf if self.finding.difference else 0.0
        return abs(self.finding.difference / self.finding.b)

    def row(self) -> dict[str, Scalar]:
        """As the table has it."""
        found = self.finding
        known = (self.experiment, self.point, self.metric.name, self.cca, self.value, self.low)
        more = (self.high, self.against, found.verdict, found.b, found.difference, found.p)
        return dict(zip(COLUMNS, (*known, *more, families.family(self.metric)), strict=True))


def scores(places: Sequence[Place], request: Request) -> list[Score]:
    """Every control against each of the others, paired by seed; Holm's correction is over the
    comparisons of one control that are of key metrics, and over the others.
    """
    found = []
    for control in request.controls:
        cases = list(_cases(places, control, request.against))
        findings = families.judged(*_families(cases))
        for (place, metric, against, pair), finding in zip(cases, findings, strict=True):
            interval = mean_interval(pair.a)
            low, high = interval or (None, None)
            where = (place.experiment.name, place.point, metric, control)
            found.append(Score(*where, _mean(pair.a), low, high, against, finding))
    return found


def notes(places: Sequence[Place], request: Request) -> list[str]:
    """Says so where the replications cannot decide anything."""
    told = (
        note
        for control in request.controls
        for note in families.too_few(*_families(list(_cases(places, control, request.against))))
    )
    return list(dict.fromkeys(told))


def _families(cases: Sequence[_Case]) -> tuple[list[families.Family], list[Pair]]:
    """Of each case its family, and its pair."""
    return [families.family(metric) for _, metric, *_ in cases], [pair for *_, pair in cases]


def _cases(places: Sequence[Place], control: str, against: Sequence[str]) -> Iterator[_Case]:
    known = {(m.scope, m.name): m for m in metrics()}
    for place in places:
        for measure, values in place.values.items():
            metric = known[measure]  # type: ignore[index]
            for other in against:
                if other == control or control not in values or other not in values:
                    continue
                a, b = values[control], values[other]
                if np.isnan(a).all() and np.isnan(b).all():
                    continue
                margin = MARGIN * abs(_mean(b) or 0.0)
                yield place, metric, other, Pair(a, b, True, metric.better, margin)


def _mean(values: Values) -> float | None:
    return None if np.isnan(values).all() else float(np.nanmean(values))


def save(found: Sequence[Score], directory: Path) -> None:
    """Writes ``scores.csv``."""
    write_csv(directory / FILE, COLUMNS, [score.row() for score in found])


def write_csv(file: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Scalar]]) -> None:
    """Writes rows; what is not known is empty."""

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv_table.write(stream, columns, rows)

    write_atomically(file, write)
