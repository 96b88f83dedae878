"""Section 4.12: how long short TCP flows take to set up and to carry, with and without GNAT.

Without, the hosts' own TCP begins with a window of ten packets (Cubic), or of two (Hybla, which at
an RTT below 25 ms grows as Reno does) as Linux did before 2.6.39. A transfer ends as its last byte
comes, not as its sender knows of it: with GNAT the sender's own node acknowledges.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sojourn.metrics import RunData
from sojourn.quantity import number
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.overlay import runs
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS

SECTION, TABLE = "4.12", "overlay_times"
WITH, TEN, TWO = "GNAT", "without GNAT, initial window 10", "without GNAT, initial window 2"
#: So many flows are looked at, which begin together, with samples as close as this.
_FLOWS, _CLOSE = 5, "1 ms"
SETUP, TRANSFER, LONGEST = "setup_ms", "transfer_ms", "longest_transfer_ms"


def cells(request: Request) -> Iterator[Cell]:
    """Means over all flows, and the longest transfer."""
    if not request.touches(SECTION) or (request.tables and TABLE not in request.tables):
        return
    experiment = next(e for e in EXPERIMENTS if e.section == SECTION)
    scenario = _close(runs.document(experiment, experiment.runs[0], request))
    bare = runs.plain(scenario)
    for row, ran in ((WITH, scenario), (TEN, bare), (TWO, _control(bare, "hybla"))):
        for column, measure in _MEASURES.items():
            keys = {"section": SECTION, "table": TABLE, "row": row, "column": column}
            yield Cell(keys, None, [(runs.sampled(ran),)], measure)


def _close(scenario: Document) -> Document:
    """The first flows alone, to the millisecond."""
    flows = scenario["flows"][:_FLOWS]
    end = max(number(flow["start"]) for flow in flows) + 1
    flows = [{**flow, "stop": f"{end} s"} for flow in flows]
    return runs.checked(
        {**scenario, "flows": flows, "duration": f"{end} s", "sample_interval": _CLOSE}
    )


def _control(scenario: Document, name: str) -> Document:
    changed = json.loads(json.dumps(scenario))
    for flow in changed["flows"]:
        flow["cca"] = name
    return runs.checked(changed)


def _times(data: RunData) -> tuple[np.ndarray, np.ndarray]:
    """Of each flow, in ms: until it is established, and from then until its last byte has come."""
    start, established = (
        np.asarray(data.tables["flows"][name]) for name in ("start", "established_at")
    )
    samples = data.flow.samples
    came = samples["in_order_bytes"] > 0
    last = samples.ends[len(came) - 1 - np.argmax(came[::-1], axis=0)]
    return 1e3 * (established - start), 1e3 * (last - established)


_MEASURES: dict[str, Callable[[RunData], float]] = {
    SETUP: lambda data: float(_times(data)[0].mean()),
    TRANSFER: lambda data: float(_times(data)[1].mean()),
    LONGEST: lambda data: float(_times(data)[1].max()),
}


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """The times side by side."""
    found = {(row["row"], row["column"]): row["measured"] for row in rows if row["table"] == TABLE}
    if found:
        names = list(dict.fromkeys(name for name, _ in found))
        lines = [[name, *(found.get((name, column)) for column in _MEASURES)] for name in names]
        header = ("", "set-up (ms)", "transfer (ms)", "longest transfer (ms)")
        yield Sheet(TABLE, "4.12: short TCP flows", header, lines, words=1)


def _value(rows: Sequence[Row], row: str, column: str) -> float:
    """A ``KeyError`` if it was not measured."""
    for each in rows:
        key = (each["table"], each["row"], each["column"])
        if key == (TABLE, row, column) and each["measured"] is not None:
            return float(each["measured"])
    raise KeyError(SECTION)


def _setup(rows: Sequence[Row]) -> Finding:
    with_, without = (_value(rows, row, SETUP) for row in (WITH, TEN))
    return Finding(abs(with_ / without - 1) <= 0.25, f"{with_:.1f} and {without:.1f} ms")


def _transfer(rows: Sequence[Row]) -> Finding:
    with_, two, ten = (_value(rows, row, TRANSFER) for row in (WITH, TWO, TEN))
    numbers = f"{with_:.1f} ms; without {two:.1f} ms, with an initial window of 10 {ten:.1f} ms"
    return Finding(two >= 2 * with_, numbers)


def _alike(rows: Sequence[Row]) -> Finding:
    mean, most = (_value(rows, WITH, column) for column in (TRANSFER, LONGEST))
    return Finding(most <= 1.5 * mean, f"{mean:.1f} ms on average, {most:.1f} ms at most")


STATEMENTS = (
    Statement(
        "setup-4.12",
        SECTION,
        "Flows are set up in about the same time with and without GNAT",
        "means within 25 %, initial window 10",
        _setup,
    ),
    Statement(
        "transfer-4.12",
        SECTION,
        "Without GNAT the transfer takes more than twice as long",
        "mean without, initial window 2, at least twice that with",
        _transfer,
    ),
    Statement(
        "alike-4.12",
        SECTION,
        "Set-up and transfer times are small and alike",
        "the longest transfer at most 1.5 times the mean",
        _alike,
    ),
)
