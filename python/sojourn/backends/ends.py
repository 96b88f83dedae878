"""How the programs of a run have ended, in numbers and in words."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import PurePath

from sojourn.backends.crossed import WORTH_TELLING, amount, crossed, slowest
from sojourn.json_types import Fields
from sojourn.kernel.guest import first_word
from sojourn.metrics import RunData
from sojourn.numbers import number
from sojourn.programs import Written

#: The status of a run that is over before a program that it waits for, as timeout(1) has it.
TIMEOUT = 124
#: The status of what SIGKILL has ended.
_KILLED = 137
#: Memory that the guest has.
_MEMORY = "1 GB"
#: Output of a program that is kept.
_MOST_OUTPUT = "64 MB"


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
    #: The virtual times in seconds at which they started, of those that did.
    started: Mapping[int, float] = field(default_factory=dict)
    #: Those of whose output only the beginning is kept.
    cut: Sequence[int] = ()
    #: The first file that could not be copied, and why.
    uncopied: str | None = None

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

    def of(self, program: int) -> int:
        """The status of one, as :meth:`status`."""
        status, _ = self.ended.get(program, (TIMEOUT, 0.0))
        return status

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
    awaited = _awaited(canonical)
    late = (f"{line}: status {TIMEOUT}" for _, line in _late(canonical, ends))
    causes = (text for _, text in _causes(canonical, ends))
    return "; ".join([*late, *_failures(canonical, ends, awaited).values(), *causes])


def told(canonical: Fields, ends: Ends, command: int | None) -> Iterator[str]:
    """What programs that were waited for came to, as far as the status of the run does not say it:
    that of ``command``, the number of a program, or without any that of all of them.
    """
    for place, line in _late(canonical, ends):
        yield f"{line}: status {TIMEOUT}" if command in (None, place) else f"warning: {line}"
    if command is not None:
        others = _awaited(canonical) - {command}
        yield from (f"warning: {line}" for line in _failures(canonical, ends, others).values())


def notes(
    canonical: Fields, ends: Ends, data: RunData, connections: Sequence[int]
) -> dict[str, str]:
    """What to know of any run of programs beside the statuses of those that were waited for: others
    that have failed, which were not to end, what may have been the cause, packets that went
    nowhere or past the bottleneck. Each is told by what it is of.
    """
    told = dict(_causes(canonical, ends))
    if ends.left_out:
        told["left out"] = f"{number(ends.left_out * 1e-6)} MB of files are too many to be kept"
    if ends.uncopied:
        told["uncopied"] = f"a file is not kept: {ends.uncopied}"
    for place in ends.cut:
        one = called(canonical["programs"][place])
        told[f"output {place}"] = f"of what {one} wrote only the first {_MOST_OUTPUT} are kept"
    if missed := _missed(data, connections):
        told["past"] = missed
    return told


def _causes(canonical: Fields, ends: Ends) -> Iterator[tuple[str, str]]:
    """What may be why a run has failed, or is another one than it was meant to be."""
    others = set(range(len(canonical["programs"]))) - _awaited(canonical)
    failures = _failures(canonical, ends, others)
    yield from ((f"program {place}", line) for place, line in failures.items())
    if failures or ends.status(canonical["programs"]):
        yield from ((line, line) for line in _hints(ends))
    for (source, destination), packets in (ends.unrouted or {}).items():
        yield (
            f"{source} {destination}",
            f"{packets} packets from {source} to {destination} were dropped: no flow joins "
            f"{source} and {destination}; declare one",
        )


def _missed(data: RunData, connections: Sequence[int]) -> str:
    """Of programs' traffic that no bottleneck has slowed down; empty if there is little."""
    found, rate = crossed(data, connections), slowest(data.network["links"])
    if found.past <= WORTH_TELLING * (found.over + found.past) or rate == inf:
        return ""
    return (
        f"{amount(found.past, found.seconds, rate)} took a way that has no bottleneck, as the way "
        "back to a flow's sender: let the sender be where the data comes from, or give the flow "
        'direction = "reverse"'
    )


def _awaited(canonical: Fields) -> set[int]:
    return {place for place, program in enumerate(canonical["programs"]) if program["wait"]}


def _late(canonical: Fields, ends: Ends) -> Iterator[tuple[int, str]]:
    """Of those that were waited for and had not ended."""
    for place in sorted(_awaited(canonical) - ends.ended.keys()):
        whole = f"{canonical['duration']}, the scenario's duration"
        yield place, f"{called(canonical['programs'][place])} had not ended at {whole}"


def _failures(canonical: Fields, ends: Ends, places: Container[int]) -> dict[int, str]:
    """Of the programs at these places, in their order."""
    told: dict[int, str] = {}
    for place, program in enumerate(canonical["programs"]):
        status, time = ends.ended.get(place, (0, 0.0))
        if status and place in places:
            said = ends.last_error(place)
            line = f"{called(program)} ended with status {status} at {time:.9g} s"
            told[place] = f"{line}: {said}" if said else line
    return told


def _hints(ends: Ends) -> Iterator[str]:
    """What may have ended a program otherwise than it was meant to."""
    if _KILLED in {status for status, _ in ends.ended.values()} or ends.killed:
        for name in dict.fromkeys(ends.killed):
            yield f"{name} was killed: the guest has {_MEMORY}"
    for call, name in dict.fromkeys(ends.lacks):
        yield f"{name} asked for system call {call}, which the guest's kernel has not"
