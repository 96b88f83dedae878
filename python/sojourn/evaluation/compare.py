"""Compares two sides point by point, member by member, metric by metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.evaluation import families, programs
from sojourn.evaluation.families import CALLED, FAMILIES, Family
from sojourn.evaluation.margins import DEFAULT, Margins, relative
from sojourn.evaluation.pairs import pairs_of
from sojourn.evaluation.side import Side, Source, read
from sojourn.json_types import Scalar
from sojourn.numbers import with_uncertainty
from sojourn.origin import SIMULATED
from sojourn.statistics import Finding, Verdict
from sojourn.table import Table

VERDICTS: tuple[Verdict, ...] = ("worse", "better", "different", "same", "unsure")
#: The verdicts that say that something has changed.
CHANGED: tuple[Verdict, ...] = VERDICTS[:3]
#: In which order a reader wants them.
_GROUPS = {**dict.fromkeys(CHANGED, 0), "unsure": 1, "same": 2}
_SCHEMA: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("point", "scope", "id", "metric"), pl.String),
    **dict.fromkeys(("a", "b", "difference", "low", "high", "effect", "p"), pl.Float64),
    "verdict": pl.String,
    **dict.fromkeys(("more_runs", "n_a", "n_b"), pl.Int64),
    "paired": pl.Boolean,
    "family": pl.String,
}
#: What a table that is read shows of each comparison, and how it is called; beside these the member
#: and, where there are several, the point.
_TOLD = ("verdict", "a", "b", "difference", "effect", "p", "more_runs")
_HEADS = ("verdict", "A", "B", "difference", "effect", "p", "more runs")


class Row(TypedDict):
    """A comparison: a row of the table."""

    point: str
    scope: str
    id: str
    metric: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    effect: float | None
    p: float | None
    verdict: Verdict
    more_runs: int | None
    n_a: int
    n_b: int
    paired: bool
    family: Family


@dataclass(frozen=True)
class Comparison:
    """What A is against B."""

    a: str
    b: str
    #: One row per point, member and metric; see docs/howto/compare.md.
    table: pl.DataFrame
    #: What a reader should know before the numbers.
    notes: list[str]
    #: What the runs of each were made on; empty if all were simulated.
    on: Sequence[str] = ()

    def of(self, *verdicts: str) -> pl.DataFrame:
        """The rows of these verdicts, those that changed most first."""
        return by_change(self.table.filter(pl.col("verdict").is_in(verdicts)))

    def family(self, one: Family) -> pl.DataFrame:
        """The rows of a family: what changed, what is not decided, what is the same; each with
        those that changed most first.
        """
        group = pl.col("verdict").replace_strict(_GROUPS, return_dtype=pl.Int64)
        mine = by_change(self.table.filter(pl.col("family") == one))
        return mine.sort(group, maintain_order=True)

    def next_decided(self, one: Family) -> Row | None:
        """The row of a family that the fewest more runs would probably decide."""
        undecided = self.family(one).filter(pl.col("verdict") == "unsure").drop_nulls("more_runs")
        return next(rows_of(undecided.sort("more_runs")), None)

    @property
    def sentence(self) -> str:
        """How many comparisons of each family came to which verdict."""
        told = []
        for one in FAMILIES:
            counts = Counter(self.family(one)["verdict"])
            if counts:
                said = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
                told.append(f"{said} of {counts.total()} comparisons of {CALLED[one]}")
        on_a, on_b = (f", {on}," for on in self.on) if self.on else ("", "")
        against = f"{self.a}{on_a} against {self.b}{on_b}".removesuffix(",")
        return f"{against}: {'; '.join(told) or 'nothing in common'}."


def compare(
    a: Source, b: Source, *, margin: str = DEFAULT, names: Iterable[str] | None = None
) -> Comparison:
    """Compares runs, sweeps or folders of sweeps: directories, or what they were read as.

    Means that differ by less than ``margin`` of B's are the same. ``names`` are the metrics to
    compare: the fewer, the surer each verdict. By default all are, the key ones and the others each
    with a correction of their own (docs/howto/compare.md).

    Raises:
        ScenarioError: if there is nothing to compare.

    """
    margins = Margins(relative(margin, "margin"))
    left, right = read(a), read(b)
    if not set(left.points) & set(right.points):
        raise ScenarioError(
            f"{left.name} and {right.name} have no point in common: {_some(left.points)} against "
            f"{_some(right.points)}"
        )
    return judged(left, right, margins, names)


def judged(a: Side, b: Side, margins: Margins, names: Iterable[str] | None = None) -> Comparison:
    """Compares what has been read."""
    notes = list(programs.others(a.programs, b.programs))
    points = [point for point in a.points if point in set(b.points)]
    lonely = len(set(a.points) ^ set(b.points))
    if lonely:
        notes.append(f"warning: {lonely} points are on one side only and left out")
    notes += [f"warning: {len(s.failures)} runs of {s.name} failed" for s in (a, b) if s.failures]
    chosen = None if names is None else set(names)
    rows, pairs, of = [], [], []
    for point in points:
        of_a, of_b = (side.values.filter(pl.col("point") == point) for side in (a, b))
        for member, metric, pair in pairs_of(of_a, of_b, margins, chosen, notes):
            of.append(families.family(metric, chosen))
            row = {"point": point, **member, "metric": metric.name}
            rows.append(row | {"paired": pair.paired, "family": of[-1]})
            pairs.append(pair)
    notes += families.too_few(of, pairs)
    found = families.judged(of, pairs)
    table = pl.DataFrame(
        [row | _columns(one) for row, one in zip(rows, found, strict=True)], schema=_SCHEMA
    )
    told = [_counted(n, notes) for n in dict.fromkeys(notes)]
    on = [" and ".join(side.on) for side in (a, b)]
    return Comparison(a.name, b.name, table, told, on if set(on) != {SIMULATED} else ())


def rows_of(table: pl.DataFrame) -> Iterator[Row]:
    """The comparisons of a table, or of a part of it."""
    return cast("Iterator[Row]", table.iter_rows(named=True))


def by_change(table: pl.DataFrame) -> pl.DataFrame:
    """Those that changed most first: the difference against the mean of both sides."""
    size = pl.col("difference").abs() / (pl.col("a").abs() + pl.col("b").abs())
    return table.sort(size.fill_nan(0.0), descending=True, nulls_last=True, maintain_order=True)


def shown(rows: pl.DataFrame, title: str = "") -> Table:
    """Rows as a table for people."""
    member = pl.concat_str("scope", "id", separator=" ").str.strip_chars()
    left = ["metric", "of", *(["point"] if (rows["point"] != "").any() else [])]
    cells = rows.select(*left[:1], member.alias("of"), *left[2:], *_TOLD).to_dicts()
    differences = map(difference, rows_of(rows))
    lines = [
        list({**row, "difference": told}.values())
        for row, told in zip(cells, differences, strict=True)
    ]
    return Table(title, [*left, *_HEADS], lines, words=len(left) + 1)


def difference(row: Row) -> str:
    """That of the means with half the width of its 95 % interval, which is even on both sides."""
    half = None if row["low"] is None or row["high"] is None else (row["high"] - row["low"]) / 2
    return with_uncertainty(row["difference"], half)


def _some(points: list[str]) -> str:
    first = repr(points[0] or "the only one") if points else "none"
    return first + f" and {len(points) - 1} more" * (len(points) > 1)


def _counted(note: str, notes: list[str]) -> str:
    count = notes.count(note)
    return f"{note} ({count} points)" if count > 1 else note


def _columns(found: Finding) -> dict[str, Scalar]:
    told = {name: getattr(found, name) for name in _SCHEMA if hasattr(found, name)}
    return told | {"more_runs": found.more}
