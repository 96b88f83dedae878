"""Events in files of qlog: JSON text sequences (``.sqlog``), lines of JSON, or one document
(``.qlog``), of drafts from 0.3 on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from sojourn import regular_file
from sojourn.errors import ScenarioError
from sojourn.interchange.observed import MOST
from sojourn.json_types import Fields

#: Begins a record of a sequence.
_RECORD = b"\x1e"
#: Bytes of a document that is no sequence, and of a record, at most.
_DOCUMENT, _LINE = 1 << 30, 1 << 26
#: Larger numbers are none: times in ms of 30,000 years, bytes of an exabyte.
_LARGEST = 1e15
#: Each time is told from the one before.
_DELTAS = ("relative_to_previous_event", "delta")
_ABSOLUTE = ("absolute",)


@dataclass(frozen=True)
class Event:
    """What happened, and when, in seconds."""

    time: float
    #: Without the name of its schema, which drafts differ in.
    name: str
    data: Fields


@dataclass
class Trace:
    """What one end has told."""

    title: str
    events: list[Event] = field(default_factory=list)


@dataclass
class Read:
    """What a file has."""

    traces: list[Trace]
    #: Records that make no sense.
    unread: int


def amount(value: object) -> float | None:
    """A number that is none below zero, if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LARGEST else None


def read(path: Path) -> Read:
    """All traces of a file.

    Raises:
        ScenarioError: if it is none of qlog's.

    """
    try:
        with regular_file.opened(path, MOST) as file:
            is_sequence = file.read(1) == _RECORD
            file.seek(0)
            return _sequence(_records(file)) if is_sequence else _document(file)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ScenarioError(f"{path}: is no file of qlog's") from None


def _records(file: BinaryIO) -> Iterator[object]:
    """Each record of a sequence, or line of JSON; ``None`` for what makes no sense."""
    while line := file.readline(_LINE):
        text = line.strip(_RECORD + b" \t\r\n")
        if text:
            try:
                yield json.loads(text)
            except (ValueError, RecursionError):
                yield None


def _document(file: BinaryIO) -> Read:
    """A whole document, or one record in each line."""
    content = file.read(_DOCUMENT)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        file.seek(0)
        return _sequence(_records(file))
    traces = document.get("traces") if isinstance(document, dict) else None
    found = Read([], 0)
    for trace in traces if isinstance(traces, list) else []:
        if isinstance(trace, dict) and isinstance(trace.get("events"), list):
            title = _title(trace, document)
            found.traces.append(Trace(title, list(_timed(trace["events"], trace, found))))
    return found


def _sequence(records: Iterator[object]) -> Read:
    """A header, and an event in each further record."""
    head = next(records, None)
    if not isinstance(head, dict) or not {"trace", "qlog_version", "file_schema"} & head.keys():
        raise ValueError
    given = head.get("trace")
    trace = given if isinstance(given, dict) else {}
    found = Read([Trace(_title(trace, head))], 0)
    found.traces[0].events.extend(_timed(records, trace, found))
    return found


def _title(trace: Fields, document: Fields) -> str:
    """What an end is called."""
    vantage = trace.get("vantage_point")
    named = vantage.get("name") or vantage.get("type") if isinstance(vantage, dict) else None
    title = trace.get("title") or document.get("title")
    return ", ".join(str(name) for name in (title, named) if isinstance(name, str)) or "trace"


def _timed(events: Iterable[object], trace: Fields, found: Read) -> Iterator[Event]:
    """Events with their times, which rise; those that make no sense are counted."""
    common = trace.get("common_fields")
    how = common.get("time_format") if isinstance(common, dict) else None
    first, last = None, 0.0
    for event in events:
        given = amount(event.get("time")) if isinstance(event, dict) else None
        if given is None or not isinstance(event, dict) or not isinstance(event.get("name"), str):
            found.unread += 1
            continue
        first = given if first is None else first
        since = given - first if how in _ABSOLUTE or first > 1e11 else given
        last = last + given if how in _DELTAS else max(last, since)
        if not math.isfinite(last) or last > _LARGEST:
            found.unread += 1
            continue
        data = event.get("data")
        name = str(event["name"]).rpartition(":")[2].removeprefix("recovery_")
        yield Event(last / 1e3, name, data if isinstance(data, dict) else {})
