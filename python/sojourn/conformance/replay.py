"""Replays of the kernel's sources beside our own controls and disciplines.

Open loop: both are called for the same series of events, and what they decide is compared after
each. Closed loop: each runs by itself, and the runs' metrics are compared.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.conformance import counterparts, situations
from sojourn.conformance.explained import UNEXPLAINED, explained
from sojourn.errors import ScenarioError, SojournError
from sojourn.executors import threads

if TYPE_CHECKING:
    from sojourn.scenario import Document

#: How far apart two runs may be: goodput and smoothed RTT, as shares.
MARGINS = {"mean_throughput_l7": 0.01, "mean_srtt_l4": 0.02}


FAILED = "does not run"


@dataclass(frozen=True)
class Row:
    """A replay; the fields are the columns of ``replay.csv``."""

    kind: str
    name: str
    scenario: str
    #: Comparisons; ``None`` in closed loop.
    steps: int | None
    #: Where they part first; empty if they do not.
    first_difference: str
    note: str
    version: str
    loop: str

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.note.startswith(FAILED):
            return FAILED
        if not self.first_difference:
            return "same" if self.steps or "counterpart" not in self.note else "runs"
        return "parts" if self.note.startswith(UNEXPLAINED) else "explained"

    def cells(self) -> tuple[str | int | None, ...]:
        """Its fields in their order."""
        return astuple(self)


Replay = Callable[[], Row]
Progress = Callable[[int, int], object]
COLUMNS = tuple(field.name for field in fields(Row))


def rows(
    directory: Path, version: str, names: Sequence[str], jobs: int, report: Progress | None = None
) -> list[Row]:
    """All that can be replayed of a kernel's tree, or of a directory of such sources; of ``names``
    alone if there are some.

    Raises:
        ScenarioError: if there is none.

    """
    wanted = list(_replays(directory, version, names))
    if not wanted:
        what = f"none of {', '.join(names)}" if names else "no source such as tcp_cubic.c"
        raise ScenarioError(f"--against {directory}: holds {what}")
    found = []
    for row in threads.execute(wanted, lambda replay: replay(), jobs):
        if row is not None:
            found.append(row)
            if report:
                report(len(found), len(wanted))
    order = {
        name: place
        for place, name in enumerate((*counterparts.CONTROLS, *counterparts.DISCIPLINES))
    }
    return sorted(found, key=lambda row: (row.kind, order[row.name], row.scenario, row.loop))


def _replays(directory: Path, version: str, names: Sequence[str]) -> Iterator[Replay]:
    for name, ours in counterparts.CONTROLS.items():
        source = _source(directory, f"tcp_{name}.c")
        if source and (not names or name in names):
            yield from _controls(name, ours, source, version)
    for name in counterparts.DISCIPLINES:
        source = _source(directory, f"sch_{name}.c")
        if source and (not names or name in names):
            yield from _queues(name, source, version)


def _source(directory: Path, name: str) -> str | None:
    places = (directory, directory / "net/ipv4", directory / "net/sched")
    return next(
        (str((place / name).resolve()) for place in places if (place / name).exists()), None
    )


def _controls(name: str, ours: str | None, source: str, version: str) -> Iterator[Replay]:
    theirs = {"kind": "linux", "source": source, "version": version}
    chosen = situations.MARKS if name == "dctcp" else situations.CONTROLS
    for situation, path in chosen.items():
        scenario = situations.of_control(path, theirs)
        if ours is None:
            yield partial(_alone, "control", name, situation, scenario, version)
            continue
        own = situations.of_control(path, {"kind": ours})
        place = ("flows", 0, "cca")
        yield partial(_open, "control", name, situation, own, scenario, place, version)
        yield partial(_closed, "control", name, situation, own, scenario, version)


def _queues(name: str, source: str, version: str) -> Iterator[Replay]:
    for situation, (ecn, path, flows) in situations.TRAFFIC.items():
        ours, given = counterparts.disciplines(name, ecn, path.rate, version)
        theirs = {"kind": "linux", "source": source, "version": version, **given}
        own = path.scenario({"queue": {"kind": name, **ours}}, flows)
        other = path.scenario({"queue": theirs}, flows)
        place = ("topology", "bottleneck", "queue")
        yield partial(_open, "queue", name, situation, own, other, place, version)
        yield partial(_closed, "queue", name, situation, own, other, version)


def _open(
    kind: str,
    name: str,
    situation: str,
    own: Document,
    other: Document,
    place: tuple[str | int, ...],
    version: str,
) -> Row:
    from sojourn.executors import processes
    from sojourn.external import inside
    from sojourn.scenario import validated

    def made(steps: int | None, first: str, note: str) -> Row:
        return Row(kind, name, situation, steps, first, note, version, "open")

    try:
        ours, theirs = (validated(document).canonical for document in (own, other))
        both = copy.deepcopy(ours)
        pair = {"kind": "replay", "ours": _at(ours, place), "theirs": _at(theirs, place)}
        _at(both, place[:-1])[str(place[-1])] = pair
        steps, differences, first = processes.call(inside.replay, json.dumps(both))
    except (SojournError, ScenarioError) as error:
        return made(None, "", f"{FAILED}: {error}")
    if first is None:
        return made(steps, "", "")
    step, at, told = first
    where = f"step {step}, at {at:.6f} s, {told}; {differences} of {steps} steps differ"
    return made(steps, where, explained(kind, name))


def _at(document: Document, place: tuple[str | int, ...]) -> Document:
    found: Any = document  # tables and lists in turn
    for key in place:
        found = found[key]
    return {"kind": found} if isinstance(found, str) else found


def _closed(
    kind: str,
    name: str,
    situation: str,
    own: Document,
    other: Document,
    version: str,
) -> Row:
    try:
        ours, theirs = (_metrics(document) for document in (own, other))
    except (SojournError, ScenarioError) as error:
        return Row(kind, name, situation, None, "", f"{FAILED}: {error}", version, "closed")
    apart = [
        f"{metric} of {flow}: ours {mine:.6g}, theirs {their:.6g}"
        for (flow, metric), mine in ours.items()
        if abs(mine - (their := theirs[flow, metric])) > MARGINS[metric] * abs(their)
    ]
    note = explained(kind, name) if apart else ""
    return Row(kind, name, situation, None, "; ".join(apart), note, version, "closed")


def _alone(kind: str, name: str, situation: str, scenario: Document, version: str) -> Row:
    try:
        found = _metrics(scenario)
    except (SojournError, ScenarioError) as error:
        return Row(kind, name, situation, None, "", f"{FAILED}: {error}", version, "closed")
    goodput = sum(value for (_, metric), value in found.items() if "throughput" in metric)
    note = f"no counterpart; runs, {goodput:.2f} Mbit/s"
    return Row(kind, name, situation, None, "", note, version, "closed")


def _metrics(document: Document) -> dict[tuple[str, str], float]:
    from sojourn.engine import measure
    from sojourn.scenario import load

    table = measure(load(document)).flows
    return {
        (str(row["id"]), metric): float(row[metric])
        for row in table.to_dicts()
        for metric in MARGINS
        if row[metric] is not None
    }
