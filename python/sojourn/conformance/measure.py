"""Putting members through their suites: a campaign, each check of each member a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sojourn.campaign.cases import Attempted
from sojourn.campaign.run import Progress, run
from sojourn.conformance import directory
from sojourn.conformance.checked import value
from sojourn.conformance.subjects import Subject
from sojourn.conformance.suite import Check, exceptions, suite
from sojourn.executors import Executor, threads
from sojourn.store import manifest

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

    def cells(self) -> dict[str, str | float | None]:
        """By the names of ``COLUMNS``."""
        check = {"check": self.check.name, "least": self.check.least, "most": self.check.most}
        own = {"kind": self.kind, "name": self.name, "value": self.value}
        all_: dict[str, str | float | None] = {**own, **check}
        all_ |= {"verdict": self.verdict, "note": self.note}
        return {column: all_[column] for column in COLUMNS}


def rows(
    subjects: Sequence[Subject],
    out: Path,
    jobs: int,
    progress: Progress,
    execute: Executor = threads.execute,
) -> list[Row]:
    """Every check of every member, in their order; what they came to is stored in ``out``."""
    checks = [(s, check, _case(s, check)) for s in subjects for check in suite(s.kind)]
    cases = list(dict.fromkeys(case for _, _, case in checks))
    results = run(cases, out, jobs, progress, execute)
    manifest.write(out, directory.SUITE, directory.content())
    return [_row(subject, check, results[case]) for subject, check, case in checks]


def _case(subject: Subject, check: Check) -> Attempted:
    return Attempted.of(value, kind=subject.kind, table=subject.table, check=check.name)


def _row(subject: Subject, check: Check, told: Mapping[str, Any]) -> Row:
    if "error" in told:
        return Row(subject.kind, subject.name, check, None, "error", told["error"])
    found = told["value"]
    known = exceptions().get((check.name, subject.name)) if len(subject.table) == 1 else None
    verdict: Verdict = "holds" if check.holds(found) else "exception" if known else "fails"
    note = known if known and verdict == "exception" else ""
    return Row(subject.kind, subject.name, check, found, verdict, note)
