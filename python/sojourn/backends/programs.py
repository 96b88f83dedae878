"""Programs on the hosts of a scenario, unmodified, inside a kernel in virtual time."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import polars as pl

from sojourn import _internal
from sojourn.backends import lacking
from sojourn.backends.ends import Ends, failure, notes
from sojourn.engine import Progress
from sojourn.errors import RunError, ScenarioError, refused
from sojourn.executors.threads import go_on
from sojourn.kernel import guest
from sojourn.kernel.cache import Kernel
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.origin import Origin
from sojourn.programs import Named, Program, Programs, Written, lines
from sojourn.quantity import number
from sojourn.record import Add, Record, recorded
from sojourn.scenario import Document, Scenario, expanded_flows
from sojourn.spool import Spool

#: Real time in seconds that a program may compute without a system call.
WATCHDOG = 60.0
#: The first kernel that has what programs need.
_FIRST = (6, 12)
#: Keys of a canonical scenario that a run of programs changes: its flows are the connections.
_OF_RUN = ("flows", "duration", "warmup")
#: Is told the program, the stream, the virtual time in seconds and the bytes of what is written.
Heard = Callable[[int, int, float, bytes], object]


@dataclass(frozen=True)
class Asked:
    """How programs are run."""

    kernel: Kernel
    #: What tells runs on it.
    origin: Origin
    progress: Progress | None = None
    #: The directory of results, which programs do not see: files are below it meanwhile.
    spool: Path | None = None
    watchdog: float = WATCHDOG
    #: Is told what programs write as they do.
    heard: Heard | None = None


@dataclass(frozen=True)
class Ran:
    """A run of programs."""

    #: A flow for the data of each side of each connection, beside declared ones.
    result: Measured
    ends: Ends
    #: As :meth:`Ends.status`.
    status: int
    #: The numbers of the flows that are connections of programs.
    connections: Sequence[int]


@dataclass(frozen=True)
class _Done:
    """What the core has made of a run."""

    data: RunData
    timing: dict[str, float]
    ends: Ends
    hash: str
    connections: Sequence[int]
    #: The numbers of flows by those that their packets have.
    numbers: Mapping[int, int]


def check(canonical: Document, kernel: Kernel) -> None:
    """Refuses what can be told before a run.

    Raises:
        ScenarioError: if the kernel is too old, or a program is not there.

    """
    if tuple(map(int, kernel.version.split(".")[:2])) < _FIRST:
        needed = ".".join(map(str, _FIRST))
        raise refused("programs", f"kernel {kernel.version} given; they need {needed} or later")
    guest.executables(canonical["programs"])
    guest.place(None, None)


def named(canonical: Document) -> list[Named]:
    """A scenario's programs with their files; none of one that has no programs.

    Raises:
        ScenarioError: if a program is not there.

    """
    programs = canonical.get("programs", [])
    told: list[Named] = []
    for program, file in zip(programs, guest.executables(programs), strict=True):
        one: Named = {"host": program["host"], "command": program["command"]}
        if file is not None:
            one |= {"executable": str(file.path), "digest": file.digest}
        told.append(one)
    return told


def run(scenario: Scenario, asked: Asked) -> Ran:
    """Runs a scenario's programs until those that are waited for have ended, or for its duration.

    Raises:
        RunError: if the kernel fails, or a program computes for longer than the watchdog allows.
        ScenarioError: as :func:`check`.

    """
    canonical, spool = scenario.canonical, Spool(asked.spool)
    check(canonical, asked.kernel)
    files = spool.path("files")
    files.mkdir()
    programs = named(canonical)  # as they are now: what runs may change them

    def runs(add: Add | None) -> _Done:
        return _run(canonical, asked, guest.place(files, asked.spool), add)

    done, record = recorded(canonical, asked.spool, runs)
    ends, seen = done.ends, Scenario(scenario.document, dict(done.data.scenario))
    hosts = [program["host"] for program in canonical["programs"]]
    told = Programs(done.hash, _told(programs, ends), lines(ends.output, hosts), files, spool)
    for path in told.written().values():  # whoever has made the run may read all of it
        path.chmod(path.stat().st_mode | stat.S_IRUSR)
    numbered = _numbered(record, done)
    result = Measured(seen, done.data, done.timing, numbered, asked.origin, told)
    return Ran(result, ends, ends.status(canonical["programs"]), done.connections)


def succeeded(scenario: Scenario, asked: Asked) -> Measured:
    """A run whose programs did what they were to.

    Raises:
        RunError: as :func:`run`, and if one that was waited for ended with another status than 0.
        ScenarioError: as :func:`check`.

    """
    ran = run(scenario, asked)
    if ran.status:
        at = ran.result.timing["simulated_seconds"]
        raise RunError(failure(scenario.canonical, ran.ends), at)
    return ran.result


def measure(canonical: Document, asked: Asked) -> tuple[RunData, dict[str, float]]:
    """The same for one of many runs, of which neither records nor files are kept."""
    check(canonical, asked.kernel)
    done = _run(canonical, asked, guest.place(None, asked.spool), None)
    if done.ends.status(canonical["programs"]):
        raise RunError(failure(canonical, done.ends), done.timing["simulated_seconds"])
    return done.data, done.timing


def as_planned(data: RunData, canonical: Document) -> RunData:
    """A run as one of this scenario, from which that which was run differs in where files lie. What
    programs have made of it remains.
    """
    made = {name: data.scenario[name] for name in _OF_RUN} if canonical.get("programs") else {}
    return replace(data, scenario={**canonical, **made})


def alone(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
    """Refuses to run some flows by themselves: a program opens connections as it likes."""
    raise ScenarioError(
        "harm: needs runs of a flow alone, and those of programs are not known before; leave it out"
    )


def _run(canonical: Document, asked: Asked, place: guest.Place, record: Add | None) -> _Done:
    began = time.perf_counter()
    try:
        with lacking.told():
            outcome = _internal.run_programs(
                json.dumps(canonical),
                str(asked.kernel.program),
                guest.init(),
                json.dumps(place),
                asked.watchdog,
                asked.progress or go_on,
                record,
                asked.heard,
            )
    except RuntimeError as error:
        raise RunError(str(error)) from None
    return _done(canonical, outcome, time.perf_counter() - began)


def _done(canonical: Document, outcome: dict[str, Any], wall: float) -> _Done:
    """Takes apart what the core gives: what is left are its tables."""
    labels: list[tuple[int, str | None]] = outcome.pop("labels")
    ends = Ends(
        ended={number: (status, at) for number, status, at in outcome.pop("ended")},
        output=[Written(*one) for one in outcome.pop("output")],
        unrouted=outcome.pop("unrouted"),
        lacks=outcome.pop("lacks"),
        killed=outcome.pop("killed"),
        left_out=outcome.pop("left_out"),
        started=dict(outcome.pop("started")),
        cut=outcome.pop("cut"),
        uncopied=outcome.pop("uncopied"),
    )
    pairs, found = outcome.pop("connections"), outcome.pop("hash")
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    seen = _seen(canonical, labels, timing["simulated_seconds"])
    connections = [row for row, (_, label) in enumerate(labels) if label is not None]
    data = RunData(seen, outcome, network, alone)
    data.notes = notes(canonical, ends, data, connections)
    return _Done(data, timing, ends, found, connections, dict(reversed(pairs)))


def _seen(
    canonical: Document, labels: Sequence[tuple[int, str | None]], seconds: float
) -> Document:
    """The scenario that programs have made of it: for each row of the flows the declared flow, or
    one like that whose way its data took.
    """
    whole, warmup = canonical["duration"], canonical["warmup"]
    declared = expanded_flows(canonical)
    end = whole if seconds >= number(whole) else f"{f'{seconds:.9f}'.rstrip('0').rstrip('.')} s"
    flows = []
    for like, label in labels:
        flow = dict(declared[like])
        if label is not None:
            flow |= {"start": "0 s", "stop": end, "label": label}
        flows.append(flow | ({"stop": end} if number(flow["stop"]) > seconds else {}))
    lasting = warmup if number(warmup) < seconds else "0 s"
    return {**canonical, "flows": flows, "duration": end, "warmup": lasting}


def _told(named: Sequence[Named], ends: Ends) -> list[Program]:
    """What the manifest says of each program."""
    told: list[Program] = []
    for place, its in enumerate(named):
        one = cast("Program", {**its})
        if place in ends.started:
            one["started"] = ends.started[place]
        if place in ends.ended:
            status, at = ends.ended[place]
            one |= {"ended": at, "status": status}
        told.append(one)
    return told


def _numbered(record: Record | None, done: _Done) -> Record | None:
    """The record with the numbers of the run's flows in the place of those that packets have; those
    of connections without data, of which there is no flow, come after all others.
    """
    if record is None or "packets" not in record.tables:
        return record
    flow, numbers = pl.col("flow"), done.numbers
    others = flow + len(done.data.scenario["flows"])
    known = flow.replace_strict(
        list(numbers), list(numbers.values()), default=others, return_dtype=pl.Int64
    )
    packets = record.tables["packets"].with_columns(known)
    return Record({**record.tables, "packets": packets}, record.files, record.spool)
