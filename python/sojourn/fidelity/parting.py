"""The first packet at which simulator and kernel part, in the worst cells."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sojourn import scratch
from sojourn.backends import backend
from sojourn.campaign.cases import Attempted
from sojourn.campaign.run import Progress, run
from sojourn.difference import Known, difference
from sojourn.difference.sides import of_run
from sojourn.executors import Executor, threads
from sojourn.fidelity.judge import Judged
from sojourn.json_types import Fields, Json
from sojourn.scenario import load
from sojourn.store.rows import Row

COLUMNS = (
    *("cell", "start", "tolerance_s", "time", "flow", "link", "event", "packet"),
    *("sim_time", "sim_packet", "sim_size"),
    *("kernel_time", "kernel_packet", "kernel_size", "known"),
)
_RECORDED = 'record = ["packets", "cc", "queue"]'
#: Less than this is no difference, s: a flow that begins between the kernel's ticks does so some
#: microseconds late.
_FINE = 5e-5
#: So much of what control, queue and sender knew is told: what differed by more than rounding.
_MOST, _ROUNDING = 6, 1e-4


def partings(
    worst: Sequence[Judged],
    reference: str,
    out: Path,
    jobs: int,
    progress: Progress,
    execute: Executor = threads.execute,
) -> list[Row]:
    """Two rows of each cell, by the names of :data:`COLUMNS`: where both part in time, and where
    by more than a round trip, or in what is dropped. Stored in ``out`` like the campaign's runs.
    """
    cases = [(judged, _case(judged, reference)) for judged in worst]
    told = run([case for _, case in cases], out, jobs, progress, execute)
    return [row for judged, case in cases for row in _rows(judged, told[case])]


def parted(scenario: str, reference: str, build: str, tolerances: Sequence[float]) -> Json:
    """A scenario's first difference with each tolerance, in seconds, as `sojourn diff --format
    json` tells it; ``build`` is the kernel's, which tells its runs from others.
    """
    wanted = load(scenario, [_RECORDED])
    with tempfile.TemporaryDirectory(dir=scratch.directory()) as spool:
        sim, kernel = (
            of_run(backend(name).run(wanted, spool=Path(spool))) for name in ("sim", reference)
        )
        found = [difference(sim, kernel, tolerance) for tolerance in tolerances]
        told: list[Any] = [one.to_json() if one else None for one in found]
        del sim, kernel  # whose tables are on disk
    return told


def text(judged: Judged) -> str:
    """The scenario of the start in which both sides are furthest apart."""
    return judged.cell.starts[judged.worst.furthest()]


def _case(judged: Judged, reference: str) -> Attempted:
    origin = backend(reference).key() or {}
    return Attempted.of(
        parted,
        scenario=text(judged),
        reference=reference,
        build=str(origin.get("build", "")),
        tolerances=_tolerances(judged),
    )


def _tolerances(judged: Judged) -> list[float]:
    return [_FINE, judged.cell.rtt_ms * 1e-3]


def _rows(judged: Judged, told: Fields) -> Iterator[Row]:
    shared: Row = {"cell": judged.cell.name, "start": judged.worst.furthest()}
    if "error" in told:
        yield {**shared, "known": str(told["error"])}
        return
    for tolerance, one in zip(_tolerances(judged), told["value"], strict=True):
        yield {**shared, "tolerance_s": tolerance, **(_row(one) if one else {})}


def _row(one: Fields) -> Row:
    row: Row = {name: one[name] for name in ("time", "flow", "link", "event")}
    row["packet"] = one["index"]
    for side, name in (("a", "sim"), ("b", "kernel")):
        event = one[side]
        if event:
            row |= {f"{name}_time": event["time"], f"{name}_packet": event["index"]}
            row[f"{name}_size"] = event["size"]
    held = (value for value in one["known"] if not value["of"].endswith(".packets"))
    known = [_said(value) for value in held if _differs(value)]
    return {**row, "known": "; ".join(known[:_MOST])}


def _said(value: Known) -> str:
    return f"{value['of']} {value['name']} {value['a']} and {value['b']}"


def _differs(value: Known) -> bool:
    a, b = value["a"], value["b"]
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) > _ROUNDING * max(abs(a), abs(b))
    return a is not None and b is not None and a != b
