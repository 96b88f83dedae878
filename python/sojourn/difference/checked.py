"""Whether two runs of the same programs are the same, and else what differs first."""

from __future__ import annotations

from collections.abc import Container
from filecmp import cmp
from itertools import zip_longest

from sojourn.difference import Difference, difference
from sojourn.difference.sides import of_run
from sojourn.json_types import Fields
from sojourn.measured import Measured
from sojourn.programs import Line, Programs

#: So much of what a program wrote is told.
_MOST = 60


def first_difference(a: Measured, b: Measured) -> str:
    """What differs first between two runs whose packets were recorded; empty where they are the
    same to the nanosecond, as their hashes say, and wrote the same files.
    """
    assert a.programs is not None
    assert b.programs is not None
    if a.programs.hash == b.programs.hash:
        return _files(a.programs, b.programs)
    packet = difference(of_run(a), of_run(b), 0.0)
    pair = _output(a.programs, b.programs)
    said = None if pair is None else min(line["time"] for line in pair if line)
    if packet is not None and (said is None or packet.parting.time <= said):
        return _of_packet(packet)
    if pair is not None:
        return _of_output(*pair)
    return (
        f"no packet and no output, but the ends of programs or what is not recorded, as packets of "
        f"other protocols: {_ends(a.programs)} in one run, {_ends(b.programs)} in the other"
    )


def _output(a: Programs, b: Programs) -> tuple[Line | None, Line | None] | None:
    """The first writes that are not the same."""
    pairs = zip_longest(a.output, b.output)
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


def _files(a: Programs, b: Programs) -> str:
    """The first file or directory, by name, that is not the same."""
    here, there = a.written(), b.written()
    mine, theirs = ({*p.directories(), *files} for p, files in ((a, here), (b, there)))
    for name in sorted(mine | theirs):
        kinds = _kind(name, here, mine), _kind(name, there, theirs)
        if kinds[0] != kinds[1]:
            return f"{name}: {kinds[0]} in one run, {kinds[1]} in the other"
        if name in here and not cmp(here[name], there[name], shallow=False):
            return f"{name}: the content of the file"
    return ""


def _kind(name: str, files: Container[str], every: Container[str]) -> str:
    return "a file" if name in files else "a directory" if name in every else "nothing"


def _of_packet(found: Difference) -> str:
    parting = found.parting
    pairs = [
        f"{name} {_event(parting.a, name)} and {_event(parting.b, name)}"
        for name in (parting.a or parting.b or {})
        if _event(parting.a, name) != _event(parting.b, name)
    ]
    return (
        f"flow {parting.flow}, link {parting.link}, {parting.event} of packet {parting.index} at "
        f"{parting.time!r} s: {', '.join(pairs)}"
    )


def _event(one: Fields | None, name: str) -> str:
    return "none" if one is None else str(one[name])


def _of_output(a: Line | None, b: Line | None) -> str:
    return f"output: {_line(a)} in one run, {_line(b)} in the other"


def _line(one: Line | None) -> str:
    if one is None:
        return "nothing"
    text = one["text"] if len(one["text"]) <= _MOST else f"{one['text'][:_MOST]}..."
    return f"{text!r} of program {one['program']} ({one['host']}) at {one['time']!r} s"


def _ends(one: Programs) -> str:
    told = [f"{p['host']} {p.get('ended', 'none')!r} s" for p in one.programs]
    return ", ".join(told)
