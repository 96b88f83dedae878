"""The TCP stack of Linux 6.12, measured in virtual time: simulator beside kernel.

Our own measurement, without noise: the same scenario on both, packet for packet; see
``reference/linux612/SOURCE.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path

from sojourn.campaign.cases import Case, Outcome
from sojourn.oracles.linux612.goals import STATEMENTS
from sojourn.oracles.linux612.table import COMPARED, FOLDER, KEYS, METRICS, comparable
from sojourn.oracles.linux618.cells import cell_runs
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.scenario import apply_override, validated


def _cells(request: Request) -> Iterator[Cell]:
    runs = {run.key[:2]: run for run in cell_runs(FOLDER)}
    for row in comparable():
        document = deepcopy(runs[row["experiment"], row["changes"]].canonical)
        for override in request.overrides:
            apply_override(document, override)
        case = Case.of(validated(document).canonical)
        for column in COMPARED:
            if row[column]:
                measure = partial(_measure, METRICS[column][0], int(row["flow"]))
                keys = {key: row[key] for key in KEYS} | {"metric": column}
                yield Cell(keys, float(row[column]), [(case,)], measure)


def _measure(metric: str, flow: int, outcome: Outcome) -> float | None:
    value: float | None = outcome["flows"][flow]["metrics"][metric]
    return value


LINUX612 = Paper(
    name="linux612",
    title="Linux 6.12 TCP in virtual time: simulator beside kernel",
    keys=(*KEYS, "metric"),
    labels=("metric",),
    tables=("grid",),
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=_cells,
    statements=STATEMENTS,
)
