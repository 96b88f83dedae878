"""Replays of the kernel's sources beside our own controls and disciplines: a campaign.

Open loop: both are called for the same series of events, and what they decide is compared after
each. Closed loop: each runs by itself, and the runs' metrics are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

from sojourn.campaign.cases import Attempted
from sojourn.campaign.run import Progress, run
from sojourn.conformance import beside, counterparts, directory, situations
from sojourn.conformance.explained import UNEXPLAINED, Difference, explained
from sojourn.errors import ScenarioError, SojournError
from sojourn.executors import Executor, threads
from sojourn.scenario import Document, validated
from sojourn.store import manifest

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

    def cells(self) -> tuple[Any, ...]:
        """Its fields in their order."""
        return astuple(self)


COLUMNS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True)
class Replay:
    """One that is to be made."""

    kind: str
    name: str
    scenario: str
    version: str
    loop: str
    #: What it takes, or why it cannot be had.
    case: Attempted | str

    def row(self, steps: int | None, first: str, note: str) -> Row:
        """What it came to."""
        about = self.version, self.loop
        return Row(self.kind, self.name, self.scenario, steps, first, note, *about)

    def why(self, apart: Difference) -> str:
        """Why the two part like that."""
        return explained(self.kind, self.name, self.scenario, apart)


def planned(sources: Path, version: str, names: Sequence[str]) -> list[Replay]:
    """All that can be replayed of a kernel's tree, or of a directory of such sources; of ``names``
    alone if there are some.

    Raises:
        ScenarioError: if there is none.

    """
    scenes = _scenes(sources, version, names)
    found = list(chain.from_iterable(scene.replays() for scene in scenes))
    if not found:
        what = f"none of {', '.join(names)}" if names else "no source such as tcp_cubic.c"
        raise ScenarioError(f"--against {sources}: holds {what}")
    return found


def rows(
    replays: Sequence[Replay],
    out: Path,
    jobs: int,
    progress: Progress,
    execute: Executor = threads.execute,
) -> list[Row]:
    """What replays come to, in the order of the page; it is stored in ``out``."""
    cases = [replay.case for replay in replays if isinstance(replay.case, Attempted)]
    results = run(list(dict.fromkeys(cases)), out, jobs, progress, execute)
    manifest.write(out, directory.REPLAY, directory.content())
    found = [
        _row(replay, {"error": case} if isinstance(case := replay.case, str) else results[case])
        for replay in replays
    ]
    order = {
        name: place
        for place, name in enumerate((*counterparts.CONTROLS, *counterparts.DISCIPLINES))
    }
    return sorted(found, key=lambda row: (row.kind, order[row.name], row.scenario, row.loop))


@dataclass(frozen=True)
class _Scene:
    """A scenario of the kernel's member, and the same of ours if there is one."""

    kind: str
    name: str
    scenario: str
    version: str
    theirs: Document
    ours: Document | None
    #: Where the two differ.
    place: tuple[str | int, ...]

    def replays(self) -> Iterator[Replay]:
        """In each loop that there is."""
        about = self.kind, self.name, self.scenario, self.version
        for loop, case in self._cases().items():
            yield Replay(*about, loop, case)

    def _cases(self) -> dict[str, Attempted | str]:
        both = [self.ours, self.theirs] if self.ours else [self.theirs]
        loops = ("open", "closed") if self.ours else ("closed",)
        try:
            scenarios = [validated(document).canonical for document in both]
        except (SojournError, ScenarioError) as error:
            return dict.fromkeys(loops, str(error))
        cases: dict[str, Attempted | str] = {
            "closed": Attempted.of(beside.closed, scenarios=scenarios, metrics=list(MARGINS))
        }
        if self.ours:
            ours, theirs = scenarios
            cases["open"] = Attempted.of(beside.opened, ours=ours, theirs=theirs, place=self.place)
        return cases


def _scenes(sources: Path, version: str, names: Sequence[str]) -> Iterator[_Scene]:
    for name, ours in counterparts.CONTROLS.items():
        source = _source(sources, f"tcp_{name}.c")
        if source and (not names or name in names):
            yield from _controls(name, ours, source, version)
    for name in counterparts.DISCIPLINES:
        source = _source(sources, f"sch_{name}.c")
        if source and (not names or name in names):
            yield from _queues(name, source, version)


def _source(directory: Path, name: str) -> str | None:
    places = (directory, directory / "net/ipv4", directory / "net/sched")
    return next(
        (str((place / name).resolve()) for place in places if (place / name).exists()), None
    )


def _controls(name: str, ours: str | None, source: str, version: str) -> Iterator[_Scene]:
    kernel = {"kind": "linux", "source": source, "version": version}
    chosen = situations.MARKS if name == "dctcp" else situations.CONTROLS
    for situation, path in chosen.items():
        theirs = situations.of_control(path, kernel)
        own = situations.of_control(path, {"kind": ours}) if ours else None
        yield _Scene("control", name, situation, version, theirs, own, ("flows", 0, "cca"))


def _queues(name: str, source: str, version: str) -> Iterator[_Scene]:
    for situation, mode in counterparts.modes(name, version).items():
        kernel = {"kind": "linux", "source": source, "version": version, **mode.theirs}
        theirs = mode.path.scenario({"queue": kernel}, mode.flows)
        own = mode.path.scenario({"queue": {"kind": name, **mode.ours}}, mode.flows)
        place = ("topology", "bottleneck", "queue")
        yield _Scene("queue", name, situation, version, theirs, own, place)


def _row(replay: Replay, told: Mapping[str, Any]) -> Row:
    if "error" in told:
        return replay.row(None, "", f"{FAILED}: {told['error']}")
    found = told["value"]
    if replay.loop == "open":
        return _opened(replay, *found)
    return _closed(replay, *found) if len(found) == 2 else _alone(replay, *found)


def _opened(
    replay: Replay, steps: int, differences: int, first: tuple[int, float, str] | None
) -> Row:
    if first is None:
        return replay.row(steps, "", "")
    step, at, told = first
    where = f"step {step}, at {at:.6f} s, {told}; {differences} of {steps} steps differ"
    return replay.row(steps, where, replay.why(Difference.opened(told, differences / steps)))


def _closed(replay: Replay, ours: Sequence[beside.Value], theirs: Sequence[beside.Value]) -> Row:
    others = {(flow, metric): value for flow, metric, value in theirs}
    apart = {
        f"{metric} of {flow}: ours {mine:.6g}, theirs {their:.6g}": metric
        for flow, metric, mine in ours
        if abs(mine - (their := others[flow, metric])) > MARGINS[metric] * abs(their)
    }
    difference = Difference("closed", "", frozenset(apart.values()))
    return replay.row(None, "; ".join(apart), replay.why(difference) if apart else "")


def _alone(replay: Replay, theirs: Sequence[beside.Value]) -> Row:
    goodput = sum(value for _, metric, value in theirs if "throughput" in metric)
    return replay.row(None, "", f"no counterpart; runs, {goodput:.2f} Mbit/s")
