"""Where backends disagree: metric by metric, with intervals over their runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from sojourn.measured import Measured
from sojourn.metrics import Values
from sojourn.statistics.difference import intervals
from sojourn.statistics.intervals import mean_interval
from sojourn.statistics.values import defined
from sojourn.store.rows import Row

_KEYS = ("scope", "id", "metric")
_DIFFERENCE = ("difference", "low", "high")
_SCOPES = ("flow", "link", "net", "group", "transfer")


def columns(backends: Sequence[str]) -> tuple[str, ...]:
    """Those of ``backends.csv``: of each metric the mean on the first backend and on the second,
    second minus first, and the ends of that difference's interval; then the same of every further
    backend, whose name begins its columns.
    """
    first, second, *others = backends
    more = (name for other in others for name in (other, *_differences(other)))
    return (*_KEYS, first, second, *_DIFFERENCE, *more)


def _differences(backend: str) -> tuple[str, ...]:
    return tuple(f"{backend}_{name}" for name in _DIFFERENCE)


def table(results: Mapping[str, Sequence[Measured]]) -> list[Row]:
    """One row per metric: the means over the runs of each backend, the differences from the first
    one, and the ends of their 95 % confidence intervals. What is undefined on either side has no
    difference; what is undefined on all has no row.
    """
    first, second, *others = results
    values = {name: _values(runs) for name, runs in results.items()}
    rows = []
    for key, reference in values[first].items():
        row: Row = {**dict(zip(_KEYS, key, strict=True)), first: _mean(defined(reference))}
        for name in (second, *others):
            titles = _DIFFERENCE if name == second else _differences(name)
            compared = values[name].get(key)
            if compared is None:
                row |= dict.fromkeys((name, *titles))
                continue
            row |= {name: _mean(defined(compared))}
            row |= dict(zip(titles, _difference(reference, compared), strict=True))
        if any(row[name] is not None for name in results):
            rows.append(row)
    return rows


def _mean(values: Values) -> float | None:
    return float(values.mean()) if len(values) else None


def _difference(
    reference: list[float], compared: list[float]
) -> tuple[float | None, float | None, float | None]:
    a, b = defined(reference), defined(compared)
    means = _mean(a), _mean(b)
    if means[0] is None or means[1] is None:
        return None, None, None
    return means[1] - means[0], *_interval(a, b)


def _interval(a: Values, b: Values) -> tuple[float | None, float | None]:
    """Of b minus a; a side with one run counts as known."""
    if len(a) > 1 and len(b) > 1:
        low, high = intervals(b[None, :], a[None, :], paired=False)
        known = bool(np.isfinite(low[0]))
        return (float(low[0]), float(high[0])) if known else (None, None)
    if interval := mean_interval(b):
        return interval.low - float(a[0]), interval.high - float(a[0])
    if interval := mean_interval(a):
        return float(b[0]) - interval.high, float(b[0]) - interval.low
    return None, None


def _values(results: Sequence[Measured]) -> dict[tuple[str, str, str], list[float]]:
    values: dict[tuple[str, str, str], list[float]] = {}
    for result in results:
        for key, value in _entries(result):
            values.setdefault(key, []).append(value)
    return values


def _entries(result: Measured) -> Iterator[tuple[tuple[str, str, str], float]]:
    for scope, frame in zip(_SCOPES, result.frames(), strict=True):
        for row in frame.to_dicts():
            name = str(row.get("id", ""))
            for metric in frame.select(pl.selectors.numeric()).columns:
                if metric not in ("id", "size_low", "size_high"):
                    value = row[metric]
                    yield (scope, name, metric), np.nan if value is None else float(value)
