"""The measured values, looked up and compared with those of standard backoff."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sojourn import data

Row = Mapping[str, Any]
Item = TypeVar("Item")

TRACE, BACKOFF, CONVERGENCE, SHORT_FLOWS = "trace", "backoff", "convergence", "short-flows"
KEYS = ("experiment", "aqm", "cca", "beta_ecn", "rate_mbit", "rtt_ms", "size_kb", "metric")
AQMS = ("codel", "pie")
CCAS = ("reno", "cubic")
NAMES = {"codel": "CoDel", "pie": "PIE", "reno": "NewReno", "cubic": "Cubic"}


def _settings(backoff: str) -> dict[str, float]:
    """The printed beta_ecn of each control."""
    with data.path("reference/abe/settings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["cca"]: float(row["beta_ecn"]) for row in rows if row["backoff"] == backoff}


#: beta_ecn of standard backoff, and RFC 8511's.
STANDARD = _settings("standard")
RECOMMENDED = _settings("recommended")


@dataclass(frozen=True)
class Pair:
    """A measured value beside that of standard backoff in the same place."""

    aqm: str
    cca: str
    beta_ecn: float
    rate: float
    rtt: float
    size: float
    value: float
    standard: float

    @property
    def ratio(self) -> float:
        """The value as a multiple of standard backoff's."""
        return self.value / self.standard

    @property
    def gain(self) -> float:
        """The relative difference to standard backoff, %."""
        return 100 * (self.ratio - 1)

    @property
    def rise(self) -> float:
        """The difference to standard backoff."""
        return self.value - self.standard


def pairs(rows: Sequence[Row], experiment: str, metric: str, **where: str) -> Sequence[Pair]:
    """The metric of an experiment, standard backoff itself included, in the order of the rows;
    places without a value of standard backoff are left out. A ``KeyError`` if there is none.
    """
    wanted = {"experiment": experiment, "metric": metric, **where}
    chosen = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    values = {_place(row): row["measured"] for row in chosen if row["measured"] is not None}
    return some(list(_pairs(values)), f"{metric} of {experiment}")


def _place(row: Row) -> tuple[str, ...]:
    return tuple(row[k] for k in KEYS[1:-1])


def _pairs(values: Mapping[tuple[str, ...], float]) -> Iterator[Pair]:
    for (aqm, cca, beta, rate, rtt, size), value in values.items():
        standard = values.get((aqm, cca, f"{STANDARD[cca]:g}", rate, rtt, size))
        if standard is not None and beta != "no ECN":
            numbers = (float(beta), float(rate), float(rtt), float(size or "nan"))
            yield Pair(aqm, cca, *numbers, value, standard)


def some(found: Sequence[Item], what: str) -> Sequence[Item]:
    """``found``, or a ``KeyError`` that says ``what`` is missing."""
    if not found:
        raise KeyError(what)
    return found


def recommended(found: Sequence[Pair]) -> Sequence[Pair]:
    """Those with RFC 8511's backoff; a ``KeyError`` if there is none."""
    chosen = [p for p in found if p.beta_ecn == RECOMMENDED[p.cca]]
    return some(chosen, "the recommended beta_ecn")
