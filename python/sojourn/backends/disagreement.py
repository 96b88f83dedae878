"""Where two backends disagree: metric by metric, with intervals over their runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from sojourn.result import Result
from sojourn.statistics.difference import intervals
from sojourn.statistics.intervals import mean_interval
from sojourn.statistics.values import defined

#: The columns of ``backends.csv``.
COLUMNS = ("scope", "id", "metric", "sim", "live", "difference", "low", "high")
_SCOPES = ("flow", "link", "net", "group")
Row = dict[str, Any]


def table(sim: Sequence[Result], live: Sequence[Result]) -> list[Row]:
    """One row per metric: the means over the simulator's and over the live runs, live minus sim,
    and the ends of that difference's 95 % confidence interval. What is undefined on either side
    has no difference; what is undefined on both has no row.
    """
    simulated, measured = _values(sim), _values(live)
    rows = (_row(key, simulated[key], measured[key]) for key in simulated if key in measured)
    return [row for row in rows if (row["sim"], row["live"]) != (None, None)]


def _row(key: tuple[str, str, str], sim: list[float], live: list[float]) -> Row:
    a, b = defined(sim), defined(live)
    means = [float(values.mean()) if len(values) else None for values in (a, b)]
    difference = means[1] - means[0] if means[0] is not None and means[1] is not None else None
    low, high = _interval(a, b) if difference is not None else (None, None)
    return dict(zip(COLUMNS, (*key, *means, difference, low, high), strict=True))


def _interval(sim: Any, live: Any) -> tuple[float | None, float | None]:
    """Of live minus sim; a side with one run counts as known."""
    if len(sim) > 1 and len(live) > 1:
        low, high = intervals(live[None, :], sim[None, :], paired=False)
        known = bool(np.isfinite(low[0]))
        return (float(low[0]), float(high[0])) if known else (None, None)
    if interval := mean_interval(live):
        return interval.low - float(sim[0]), interval.high - float(sim[0])
    if interval := mean_interval(sim):
        return float(live[0]) - interval.high, float(live[0]) - interval.low
    return None, None


def _values(results: Sequence[Result]) -> dict[tuple[str, str, str], list[float]]:
    values: dict[tuple[str, str, str], list[float]] = {}
    for result in results:
        for key, value in _entries(result):
            values.setdefault(key, []).append(value)
    return values


def _entries(result: Result) -> Iterator[tuple[tuple[str, str, str], float]]:
    for scope, frame in zip(_SCOPES, result.frames(), strict=True):
        for row in frame.to_dicts():
            name = str(row.get("id", ""))
            for metric in frame.select(pl.selectors.numeric()).columns:
                if metric != "id":
                    value = row[metric]
                    yield (scope, name, metric), np.nan if value is None else float(value)
