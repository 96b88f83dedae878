"""Tables of sections 2.1, 2.2 and 2.4: goodput beside the common rate, and what a run costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.slots.cells import (
    COEFFICIENTS,
    COMMON,
    DELAY,
    GOODPUT,
    LATEST,
    NOISE,
    OPTIMUM,
    QUEUED,
    SETTLED,
    SIGNAL,
    TABLE,
    USELESS,
)

_FLOWS = {COMMON: "common rate (Mbit/s)", OPTIMUM: "optimum", GOODPUT: "here", DELAY: "delay (ms)"}
_RUNS = {
    LATEST: "latest (ms)",
    QUEUED: "most queued",
    SIGNAL: "signal (B)",
    SETTLED: "settled (s)",
    NOISE: "noise (%)",
    USELESS: "useless (%)",
    COEFFICIENTS: "coefficients (%)",
}


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One table of flows and one of runs."""
    flows: dict[tuple[str, str], dict[str, float | None]] = {}
    runs: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in rows:
        if row["table"] == TABLE:
            kept = flows if " flow=" in row["row"] else runs
            kept.setdefault((row["section"], row["row"]), {})[row["column"]] = row["measured"]
    for found, columns, name, title in (
        (flows, _FLOWS, TABLE, "2.1, 2.2, 2.4: goodput of each stream and receiver"),
        (runs, _RUNS, f"{TABLE}_runs", "2.1, 2.2, 2.4: delays, queues, signals, coding"),
    ):
        if found:
            lines = [
                [section, row, *(values.get(column) for column in columns)]
                for (section, row), values in found.items()
            ]
            header = ("section", "run", *columns.values())
            yield Sheet(name, title, header, lines, words=2)
