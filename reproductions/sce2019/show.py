"""The draft's tables as its authors print them, with ours beside, and maps of the differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.campaign.cases import Results
from sojourn.reproduction.paper import Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.sce2019 import summary, tables
from sojourn_reproductions.sce2019.tables import CONTROLS, MODES, ONE_FLOW, PAIRS, TABLES, Table

if TYPE_CHECKING:
    from sojourn.figures.chart import Heat

_DIGITS = {tables.THROUGHPUT_DIFFERENCE: 3, tables.JAIN: 3, tables.FILLED: 0}


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """Each table, then what the errors come to."""
    for number, group in groupby(rows, lambda row: row["table"]):
        yield _grid(TABLES[number], list(group))
    yield from summary.sheets(rows)
    yield summary.worst(rows)


def _grid(table: Table, rows: Sequence[Row]) -> Sheet:
    """Bandwidths down, delays across; a cell is ``draft | here``, flows joined by a slash."""
    delays = list(dict.fromkeys(row["delay_ms"] for row in rows))
    lines = []
    for bandwidth in dict.fromkeys(row["bandwidth_mbit"] for row in rows):
        line = [bandwidth]
        for delay in delays:
            at = [r for r in rows if (r["bandwidth_mbit"], r["delay_ms"]) == (bandwidth, delay)]
            line.append(_cell(table, at))
        lines.append(line)
    title = f"{table.title} (draft | here)"
    return Sheet(f"table-{table.number}", title, ("Mbit/s", *delays), lines, words=1 + len(delays))


def _cell(table: Table, flows: Sequence[Row]) -> str:
    digits = _DIGITS.get(table.metric, 2)

    def joined(column: str) -> str:
        values = [row[column] for row in flows]
        return "/".join("-" if v is None else f"{v:.{digits}f}" for v in values)

    here = joined("measured")
    if all(row["published"] is None for row in flows):
        return f"| {here}".replace("|", "\u00a6")
    return f"{joined('published')} \u00a6 {here}"


def charts(rows: Sequence[Row], _request: Request, _results: Results) -> Mapping[str, Any]:
    """A map of the relative difference of each metric and mode, in per cent."""
    from sojourn.figures.chart import Chart, Panel

    made = {}
    for metric in (tables.THROUGHPUT, tables.RTT):
        for mode in (ONE_FLOW, *MODES):
            chosen = [r for r in rows if (r["metric"], r["cake_mode"]) == (metric, mode)]
            heat = _heat(chosen, (CONTROLS if mode == ONE_FLOW else PAIRS))
            if heat is None:
                continue
            panel = Panel("bandwidth (Mbit/s) @ delay (ms)", "flows", (), heat=heat)
            title = f"{summary.NAMES[metric]} beside the draft's, {mode}"
            name = f"{metric}-{mode.replace(' ', '-')}"
            made[name] = Chart(title, _OF_ONE if mode == ONE_FLOW else _OF_TWO, (panel,))
    return made


_OF_ONE = "Ours less the draft's, in per cent of the draft's."
_OF_TWO = f"{_OF_ONE} Of the two flows the one that is further off."


def _heat(rows: Sequence[Row], order: Sequence[Any]) -> Heat | None:
    from sojourn.figures.chart import Heat

    differences: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["published"] and row["measured"] is not None:
            who = " / ".join(filter(None, (row["flow1"], row["flow2"])))
            place = (who, f"{row['bandwidth_mbit']}@{row['delay_ms']}")
            off = 100 * (row["measured"] / row["published"] - 1)
            differences[place] = max(off, differences.get(place, 0.0), key=abs)
    names = [name if isinstance(name, str) else " / ".join(name) for name in order]
    lines = [name for name in names if any(who == name for who, _ in differences)]
    columns = list(dict.fromkeys(place for _, place in differences))
    if not lines or not columns:
        return None
    values = np.array([[differences.get((n, c), np.nan) for c in columns] for n in lines])
    return Heat(columns, lines, values, "difference (%)", middle=0.0)
