"""What the nodes of an overlay tell each other of their queues and links, in each interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sojourn.metrics import RunData
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.gnat2021.overlay import runs
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS, Phase
from sojourn_reproductions.gnat2021.rows import by_row, row_name

TABLE = "overlay_signalling"
#: Of all nodes together; and as a share of the bytes that links carry.
RATE, SHARE = "signalling_kbit", "signalling_percent"
#: Per cent: 1 for messages about queues, and as much again for headers, retransmissions and links.
_MOST = 2.0


def cells(request: Request) -> Iterator[Cell]:
    """Both columns of each interval of each run."""
    if request.tables and TABLE not in request.tables:
        return
    for experiment in EXPERIMENTS:
        if not request.touches(experiment.section):
            continue
        for run in experiment.runs:
            case = runs.sampled(runs.document(experiment, run, request))
            for phase in run.phases:
                row = row_name(run.name, phase.name, "nodes=all")
                keys = {"section": experiment.section, "table": TABLE, "row": row}
                for place, column in enumerate((RATE, SHARE)):
                    measure = partial(_part, place, phase)
                    yield Cell({**keys, "column": column}, None, [(case,)], measure)


def _part(place: int, phase: Phase, data: RunData) -> float:
    return runs.signalling(phase, data)[place]


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One table for all sections."""
    lines = [
        [section, name, *(columns.get(column, {}).get("measured") for column in (RATE, SHARE))]
        for (section, name), columns in by_row(rows, TABLE).items()
    ]
    if lines:
        header = ("section", "interval", "messages (kbit/s)", "share of the bytes (%)")
        yield Sheet(TABLE, "4: messages about queues and links", header, lines, words=2)


def _small(rows: Sequence[Row]) -> Finding:
    shares = {
        f"{row['section']} {row['row']}": float(row["measured"])
        for row in rows
        if row["table"] == TABLE and row["column"] == SHARE and row["measured"] is not None
    }
    if not shares:
        raise KeyError(TABLE)
    where = max(shares, key=shares.__getitem__)
    return Finding(shares[where] <= _MOST, f"at most {shares[where]:.2f} % ({where})")


STATEMENTS = (
    Statement(
        "signalling",
        GOALS,
        "Messages about queues take 1 % of the capacity",
        f"at most {_MOST:g} % of the bytes on links in every interval, with those about links",
        _small,
    ),
)
