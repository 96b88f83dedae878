"""How the programs of a run have ended, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import PurePath

from sojourn.backends.crossed import WORTH_TELLING, amount, crossed, slowest
from sojourn.json_types import Fields
from sojourn.kernel.guest import first_word
from sojourn.measured import Measured
from sojourn.numbers import number
from sojourn.programs import Written

#: The status of a run that is over before a program that it waits for, as timeout(1) has it.
TIMEOUT = 124
#: The status of what SIGKILL has ended.
_KILLED = 137
#: The call rseq(2), which the C library asks for in every program and does without.
_RSEQ = 334
#: Memory that the guest has.
_MEMORY = "1 GB"


@dataclass(frozen=True)
class Ends:
    """What came of a run's programs, which are told by their numbers."""

    #: Of those that had ended before the run's end: the status, and the virtual time in seconds.
    ended: Mapping[int, tuple[int, float]]
    #: What they wrote, in the order of time.
    output: Sequence[Written] = ()
    #: Packets between hosts that no flow joins, by the names of both.
    unrouted: Mapping[tuple[str, str], int] | None = None
    #: System calls that the guest's kernel has not, and which process asked for them.
    lacks: Sequence[tuple[int, str]] = ()
    #: Processes that were ended because the guest's memory was full.
    killed: Sequence[str] = ()
    #: Bytes of files that they wrote and that were not kept.
    left_out: int = 0

    def status(self, programs: Sequence[Fields]) -> int:
        """The first status that is not 0 of the programs that were waited for, in the order of
        their ends; 0 if there is none.
        """
        awaited = [place for place, program in enumerate(programs) if program["wait"]]
        if not set(awaited) <= self.ended.keys():
            return TIMEOUT
        found = sorted((self.ended[place][1], place) for place in awaited)
        statuses = [self.ended[place][0] for _, place in found]
        return next(filter(None, statuses), 0)

    def last_error(self, program: int) -> str:
        """The last line that a program wrote to standard error; empty if there is none."""
        said = b"".join(o.content for o in self.output if (o.program, o.stream) == (program, 2))
        told = said.decode(errors="backslashreplace").strip().splitlines()
        return told[-1].strip() if told else ""


def called(program: Fields) -> str:
    """A program by its name and host."""
    return f"{PurePath(first_word(program['command'])).name} ({program['host']})"


def failure(canonical: Fields, ends: Ends) -> str:
    """Why a run whose status is not 0 has failed."""
    return "; ".join([*_failures(canonical, ends, awaited=True), *_hints(ends)])


def told(canonical: Fields, ends: Ends, status: int) -> Iterator[str]:
    """What to know of a run beside the statuses of programs that were waited for: those of others,
    which were not to end, what may have been the cause, packets that went nowhere.
    """
    yield from _timeouts(canonical, ends)
    others = list(_failures(canonical, ends, awaited=False))
    yield from others
    if status or others:
        yield from _hints(ends)
    for (source, destination), packets in (ends.unrouted or {}).items():
        yield (
            f"warning: {packets} packets from {source} to {destination} were dropped: no flow "
            f"joins {source} and {destination}; declare one"
        )
    if ends.left_out:
        yield f"warning: {number(ends.left_out * 1e-6)} MB of files are too many to be kept"


def missed(result: Measured, connections: Sequence[int]) -> Iterator[str]:
    """What to know of programs' traffic that no bottleneck has slowed down."""
    found, rate = crossed(result, connections), slowest(result.data.network["links"])
    if found.past > WORTH_TELLING * (found.over + found.past) and rate < inf:
        yield (
            f"warning: {amount(found.past, found.seconds, rate)} took a way that has no "
            "bottleneck, as the way back to a flow's sender: let the sender be where the data "
            'comes from, or give the flow direction = "reverse"'
        )


def _timeouts(canonical: Fields, ends: Ends) -> Iterator[str]:
    for place, program in enumerate(canonical["programs"]):
        if program["wait"] and place not in ends.ended:
            yield (
                f"{called(program)} had not ended at {canonical['duration']}, the scenario's "
                f"duration: status {TIMEOUT}"
            )


def _failures(canonical: Fields, ends: Ends, *, awaited: bool) -> Iterator[str]:
    """Of those that were waited for, or of the others."""
    if awaited:
        yield from _timeouts(canonical, ends)
    for place, program in enumerate(canonical["programs"]):
        status, time = ends.ended.get(place, (0, 0.0))
        if status and program["wait"] == awaited:
            said = ends.last_error(place)
            line = f"{called(program)} ended with status {status} at {time:.9g} s"
            yield f"{line}: {said}" if said else line


def _hints(ends: Ends) -> Iterator[str]:
    """What may have ended a program otherwise than it was meant to."""
    if _KILLED in {status for status, _ in ends.ended.values()} or ends.killed:
        for name in dict.fromkeys(ends.killed):
            yield f"{name} was killed: the guest has {_MEMORY}"
    for call, name in dict.fromkeys(ends.lacks):
        if call != _RSEQ:
            yield f"{name} asked for system call {call}, which the guest's kernel has not"
