"""Putting members through their suites, several at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sojourn import _internal, class_sources
from sojourn.conformance.subjects import Subject
from sojourn.conformance.suite import Check, exceptions, suite
from sojourn.errors import RunError, SojournError
from sojourn.executors import processes, threads
from sojourn.external import inside

Verdict = Literal["holds", "fails", "exception", "error"]
#: What a table of rows has, in its order.
COLUMNS = ("kind", "name", "check", "value", "least", "most", "verdict", "note")


@dataclass(frozen=True)
class Row:
    """What a member does in a check."""

    kind: str
    name: str
    check: Check
    #: ``None`` if its run failed.
    value: float | None
    verdict: Verdict
    #: Why it is an exception, or what went wrong.
    note: str = ""

    def cells(self) -> dict[str, object]:
        """By the names of ``COLUMNS``."""
        check = {"check": self.check.name, "least": self.check.least, "most": self.check.most}
        own = {"kind": self.kind, "name": self.name, "value": self.value}
        all_ = {**own, **check, "verdict": self.verdict, "note": self.note}
        return {column: all_[column] for column in COLUMNS}


def value(subject: Subject, check: Check) -> float:
    """The value of a check; in a process of its own for a control from outside.

    Raises:
        ScenarioError: if the member is refused.
        RunError: if it ends a run.

    """
    table = json.dumps(subject.table)
    if not subject.outside:
        try:
            return _internal.conform(subject.kind, table, check.name)
        except RuntimeError as error:
            raise RunError(str(error), getattr(error, "failed_at", None)) from None
    classes = class_sources.pickled([str(subject.table.get("digest", ""))])
    return float(processes.call(inside.conform, subject.kind, table, check.name, classes))


def rows(
    subjects: Sequence[Subject], jobs: int, progress: Callable[[int, int], object]
) -> list[Row]:
    """Every check of every member, in their order."""
    items = [(s, check) for s in subjects for check in suite(s.kind)]
    done: dict[int, Row] = {}
    for found in threads.execute(enumerate(items), lambda item: (item[0], _row(*item[1])), jobs):
        if found is not None:
            done[found[0]] = found[1]
            progress(len(done), len(items))
    return [done[place] for place in range(len(items))]


def _row(subject: Subject, check: Check) -> Row:
    known = exceptions().get((check.name, subject.name)) if len(subject.table) == 1 else None
    try:
        found = value(subject, check)
    except SojournError as error:
        return Row(subject.kind, subject.name, check, None, "error", str(error))
    verdict: Verdict = "holds" if check.holds(found) else "exception" if known else "fails"
    note = known if known and verdict == "exception" else ""
    return Row(subject.kind, subject.name, check, found, verdict, note)
