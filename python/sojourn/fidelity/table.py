"""What a campaign comes to: shares by queue and by control, the worst cells, files of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sojourn import csv_table
from sojourn.fidelity import judge, parting
from sojourn.fidelity.asked import ANY_AQM, AQMS
from sojourn.fidelity.judge import Judged
from sojourn.store.files import Write, write_together
from sojourn.store.rows import Row

CELLS, PARTINGS, WORST = "cells.csv", "partings.csv", "worst"
#: So many of the cells that miss are followed to the packet.
MOST = 20
SHARES = ("by", "name", "cells", "within", "share", "low", "high", "goal", "overlap")


def worst(judged: Iterable[Judged]) -> list[Judged]:
    """The cells that miss their goal, the furthest off first, :data:`MOST` at most."""
    missed = [one for one in judged if not one.is_within]
    return sorted(missed, key=lambda one: -one.worst.excess)[:MOST]


def shares(judged: Sequence[Judged]) -> Iterator[Row]:
    """How many cells are within their goals, by the names of :data:`SHARES`: of all, by queue, by
    what their path does, and by control, where each flow counts for its own.

    ``low`` and ``high`` are the ends of Wilson's 95 % interval of the share; ``overlap`` is how
    many of the cells with several starts have ranges that overlap in every value.
    """
    yield _share("all", "", judged)
    yield from _groups("queue", judged, lambda one: one.cell.queue)
    behind = [one for one in judged if one.cell.queue in AQMS]
    if len({one.cell.queue for one in behind}) > 1:
        yield _share("queue", ANY_AQM, behind)
    yield from _groups("path", judged, lambda one: one.cell.trouble)
    yield from _groups("cca", list(_flows(judged)), lambda one: one.cell.controls[0])


def _groups(by: str, judged: Sequence[Judged], of: Callable[[Judged], str]) -> Iterator[Row]:
    for name in sorted(set(map(of, judged)) - {""}):
        yield _share(by, name, [one for one in judged if of(one) == name])


def _flows(judged: Iterable[Judged]) -> Iterator[Judged]:
    """Each flow as a cell of its own."""
    for one in judged:
        for flow, control in enumerate(one.cell.controls):
            values = [value for value in one.values if value.flow == flow]
            yield Judged(replace(one.cell, controls=[control]), one.goal, values)


def _share(by: str, name: str, judged: Sequence[Judged]) -> Row:
    from statsmodels.stats.proportion import proportion_confint

    count, within = len(judged), sum(one.is_within for one in judged)
    low, high = proportion_confint(within, count, method="wilson")
    goals = {one.goal.share for one in judged}
    told = [one.overlaps for one in judged if one.overlaps is not None]
    row: Row = {"by": by, "name": name, "cells": count, "within": within}
    row |= {"share": within / count, "low": float(low), "high": float(high)}
    row["goal"] = goals.pop() if len(goals) == 1 and by != "cca" else None
    row["overlap"] = sum(told) if told else None
    return row


def write(judged: Sequence[Judged], out: Path) -> None:
    """Writes ``cells.csv``, and each of the worst cells as a scenario file in ``worst/``."""
    rows = [value.row() for one in judged for value in one.values]
    texts = {f"{WORST}/{one.cell.name}.toml": _text(one) for one in worst(judged)}
    for path in out.glob(f"{WORST}/*.toml"):
        if f"{WORST}/{path.name}" not in texts:
            path.unlink()
    (out / WORST).mkdir(exist_ok=True)
    write_together(out, {**texts, CELLS: partial(_write_csv, judge.COLUMNS, rows)})


def write_partings(rows: Sequence[Row], out: Path) -> None:
    """Writes ``partings.csv``."""
    write_together(out, {PARTINGS: partial(_write_csv, parting.COLUMNS, rows)})


def _text(judged: Judged) -> Write:
    def write(path: Path) -> None:
        path.write_text(parting.text(judged), encoding="utf-8")

    return write


def _write_csv(columns: Sequence[str], rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv_table.write(file, columns, rows)
