"""How many replications a sweep makes of each point: a number, or as many as make an interval
narrow enough.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

import polars as pl

from sojourn import literal
from sojourn.errors import ScenarioError
from sojourn.metrics import metrics
from sojourn.names import unknown
from sojourn.quantity import split
from sojourn.statistics import Until
from sojourn.store.rows import Coordinates
from sojourn.sweeps import table

_FIELD = "sweep.replications"
_KEYS = ("until", "of", "min", "max")
_LEAST, _MOST = 5, 100
_EXAMPLE = '{ until = "5 %", of = "mean_throughput_l4", min = 5, max = 100 }'


def parse(given: object, requested: Collection[str] = ()) -> tuple[int, Until | None]:
    """The replications of each point, at first if there is a rule for how many there have to be.
    ``requested`` are the metrics that are computed though they need further runs.
    """
    if not isinstance(given, dict):
        return _whole(given, _FIELD, 1), None
    for key in given:
        if key not in _KEYS:
            raise ScenarioError(f"{_FIELD}.{key}: {unknown('key', key, _KEYS)}")
    least = _whole(given.get("min", _LEAST), f"{_FIELD}.min", 2)
    most = _whole(given.get("max", max(_MOST, least)), f"{_FIELD}.max", least)
    return least, Until(
        _width(given.get("until")), _metric(given.get("of"), requested), least, most
    )


def _whole(given: object, field: str, least: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < least:
        table = f", or {_EXAMPLE}" if field == _FIELD else ""
        raise ScenarioError(
            f"{field}: {literal.given(given)} given; expected a whole number from {least}{table}"
        )
    return given


def _width(given: object) -> float:
    text = given if isinstance(given, str) and given.rstrip().endswith("%") else ""
    width = split(text)[0] if text else 0.0
    if not 0 < width < 1:
        raise ScenarioError(
            f"{_FIELD}.until: {literal.given(given)} given; expected the interval's half width as "
            "a share of the mean, such as '5 %'"
        )
    return width


def _metric(given: object, requested: Collection[str]) -> str:
    if given is None:
        raise ScenarioError(f"{_FIELD}.of: missing; expected a metric, such as {_EXAMPLE}")
    known = {m.name: m.on_request for m in metrics()}
    if given not in known:
        told = unknown("metric", str(given), known, "sojourn list metrics")
        raise ScenarioError(f"{_FIELD}.of: {told}")
    if known[given] and given not in requested:
        raise ScenarioError(f'{_FIELD}.of: {given} needs further runs; sweep.metrics = ["{given}"]')
    return str(given)


def needed(until: Until, directory: Path) -> Mapping[str, int]:
    """From a directory's first replications, how many each point needs, by :func:`place`: what the
    member with the widest interval does.
    """
    pilot = table.ask(
        directory,
        lambda rows: (
            rows.filter((pl.col("replication") < until.least) & pl.col(until.of).is_not_null())
            .select("point", "scope", "id", pl.col(until.of).cast(pl.Float64).alias("value"))
            .collect()
        ),
    )
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for point, scope, member, value in pilot.iter_rows() if pilot is not None else ():
        values[place(json.loads(point)[0]), scope, member].append(value)
    counts: dict[str, int] = defaultdict(lambda: until.least)
    for (point, *_), of_member in values.items():
        counts[point] = max(counts[point], until.needed(of_member))
    return dict(counts)


def place(coordinates: Coordinates) -> str:
    """A point of the grid as a text."""
    return json.dumps(coordinates, sort_keys=True)
