"""The tables of the comparison with Linux 6.18: one of the grid, one of each experiment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sojourn.numbers import number
from sojourn.oracles.linux618.kernel import LIVE_METRICS, METRICS, SETUP
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row

_NAMES = (*SETUP[:5], "flow", "cca")


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One of the grid, one of each experiment; kernel beside simulator."""
    grid = [row for row in rows if not row["experiment"]]
    if grid:
        heads = ["Mbit/s", "RTT ms", "buffer", "loss"]
        header = ["flows", *heads, "flow", *_heads(METRICS)]
        lines = [[*(row[k] for k in _NAMES[:6]), *cells] for row, cells in _cells(grid, METRICS)]
        yield Sheet("grid", "Greedy flows before a FIFO", header, lines, words=6)
    live = [row for row in rows if row["experiment"]]
    for experiment, of in groupby(live, lambda row: row["experiment"]):
        here = list(of)
        metrics = [name for name in LIVE_METRICS if any(row["metric"] == name for row in here)]
        header = ["cell", "flow", "cca", *_heads(metrics)]
        lines = [
            [changes(row["changes"]), row["flow"], row["cca"], *cells]
            for row, cells in _cells(here, metrics)
        ]
        yield Sheet(f"live-{experiment}", f"Live: {experiment}", header, lines, words=3)


def _heads(metrics: Sequence[str] | dict[str, str]) -> list[str]:
    return [f"{name} {side}" for name in metrics for side in ("kernel", "sim")]


def _cells(
    rows: Sequence[Row], metrics: Sequence[str] | dict[str, str]
) -> Iterator[tuple[Row, list[Any]]]:
    """A flow of a cell, and its pairs of values."""
    for _, of in groupby(rows, lambda row: (*(row[k] for k in _NAMES), row["changes"])):
        found = {row["metric"]: row for row in of}
        first = next(iter(found.values()))
        pairs = (
            (found[name]["published"], found[name]["measured"]) if name in found else (None, None)
            for name in metrics
        )
        yield first, [value for pair in pairs for value in pair]


def changes(text: str) -> str:
    """The values of the grid."""
    values = json.loads(text).values()
    return ", ".join(value if isinstance(value, str) else _short(value) for value in values)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(_short(v) if not isinstance(v, str) else v for v in value.values())
    if isinstance(value, list):
        return f"{len(value)} values"
    return number(value)
