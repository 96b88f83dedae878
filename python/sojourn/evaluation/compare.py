"""Compares two sides point by point, member by member, metric by metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.evaluation.margins import DEFAULT, Margins, relative
from sojourn.evaluation.pairs import pairs_of
from sojourn.evaluation.side import Side, Source, read
from sojourn.statistics import Finding, Pair, Verdict, judge, replications_needed

VERDICTS: tuple[Verdict, ...] = ("worse", "better", "different", "same", "unsure")
#: The verdicts that say that something has changed.
CHANGED: tuple[Verdict, ...] = VERDICTS[:3]
_SCHEMA: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("point", "scope", "id", "metric"), pl.String),
    **dict.fromkeys(("a", "b", "difference", "low", "high", "effect", "p"), pl.Float64),
    "verdict": pl.String,
    **dict.fromkeys(("more_runs", "n_a", "n_b"), pl.Int64),
    "paired": pl.Boolean,
}
#: Of a table that is read; so many columns are words.
HEADER = ("metric", "of", "point", "verdict", "A", "B", "difference", "from", "to", "effect", "p")
WORDS = 4
Row = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """What A is against B."""

    a: str
    b: str
    #: One row per point, member and metric; see docs/compare.md.
    table: pl.DataFrame
    #: What a reader should know before the numbers.
    notes: list[str]

    def of(self, *verdicts: str) -> pl.DataFrame:
        """The rows of these verdicts, those that changed most first."""
        return by_change(self.table.filter(pl.col("verdict").is_in(verdicts)))

    @property
    def sentence(self) -> str:
        """How many comparisons came to which verdict."""
        counts = Counter(self.table["verdict"])
        told = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
        return f"{self.a} against {self.b}: {told} of {len(self.table)} comparisons."


def compare(
    a: Source, b: Source, *, margin: str = DEFAULT, names: Iterable[str] | None = None
) -> Comparison:
    """Compares runs, sweeps or folders of sweeps: directories, or what they were read as.

    Means that differ by less than ``margin`` of B's are the same. ``names`` are the metrics to
    compare, all by default: the fewer, the surer each verdict.

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
    notes: list[str] = []
    points = [point for point in a.points if point in set(b.points)]
    lonely = len(set(a.points) ^ set(b.points))
    if lonely:
        notes.append(f"warning: {lonely} points are on one side only and left out")
    notes += [f"warning: {len(s.failures)} runs of {s.name} failed" for s in (a, b) if s.failures]
    chosen = None if names is None else set(names)
    rows, pairs = [], []
    for point in points:
        of_a, of_b = (side.values.filter(pl.col("point") == point) for side in (a, b))
        for row, pair in pairs_of(of_a, of_b, margins, chosen, notes):
            rows.append({"point": point, **row, "paired": pair.paired})
            pairs.append(pair)
    notes += too_few(pairs)
    table = pl.DataFrame(
        [row | _columns(found) for row, found in zip(rows, judge(pairs), strict=True)],
        schema=_SCHEMA,
    )
    return Comparison(a.name, b.name, table, [_counted(n, notes) for n in dict.fromkeys(notes)])


def too_few(pairs: Sequence[Pair]) -> list[str]:
    """Says so where replications cannot decide anything among so many comparisons."""
    most = max((min(len(pair.a), len(pair.b)) for pair in pairs), default=0)
    needed = replications_needed(pairs)
    if most >= needed:
        return []
    return [
        f"warning: among {len(pairs)} comparisons no difference can be certain with {most} "
        f"replications; it takes {needed}, or fewer --metrics"
    ]


def by_change(table: pl.DataFrame) -> pl.DataFrame:
    """Those that changed most first: the difference against the mean of both sides."""
    size = pl.col("difference").abs() / (pl.col("a").abs() + pl.col("b").abs())
    return table.sort(size.fill_nan(0.0), descending=True, nulls_last=True, maintain_order=True)


def lines(rows: pl.DataFrame) -> list[list[Any]]:
    """Rows as lines under :data:`HEADER`."""
    member = pl.concat_str("scope", "id", separator=" ").str.strip_chars()
    numbers = ("a", "b", "difference", "low", "high", "effect", "p")
    told = rows.select("metric", member.alias("of"), "point", "verdict", *numbers)
    return [list(row) for row in told.iter_rows()]


def _some(points: list[str]) -> str:
    first = repr(points[0] or "the only one") if points else "none"
    return first + f" and {len(points) - 1} more" * (len(points) > 1)


def _counted(note: str, notes: list[str]) -> str:
    count = notes.count(note)
    return f"{note} ({count} points)" if count > 1 else note


def _columns(found: Finding) -> Row:
    told = {name: getattr(found, name) for name in _SCHEMA if hasattr(found, name)}
    return told | {"more_runs": found.more}
