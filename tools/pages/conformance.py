"""The page of the conformance suite.

``python -m tools.pages.conformance`` runs it over the catalogue, and writes
``docs/explanation/conformance/`` and from that ``docs/explanation/conformance.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from sojourn.conformance.directory import SUITE, tenant
from sojourn.conformance.measure import Row, Verdict, rows
from sojourn.conformance.subjects import chosen
from sojourn.conformance.suite import kinds, suite
from sojourn.store.batches import tell
from sojourn.store.place import claimed
from tools.pages import kept

_INTRODUCTION = """\
# Conformance

Does a control or a queue discipline do what one of its kind must? Each goes through the same
checks with its default parameters, so that they can be compared in the same runs, and yours with
them: `sojourn conformance NAME` or `sojourn conformance my_control.py`. The tests fail if one
misses a requirement without being listed as an exception below, or meets one that it is listed for.
Exceptions are *in italics*.

Every number is in [conformance/suite.csv](conformance/suite.csv), written as the page is by a
command {stamp}.
"""
_KINDS = {
    "ccas": """\
## Congestion controls

With the `linux-6` stack over a bottleneck of 20 Mbit/s with a buffer of one bandwidth-delay
product, a round trip of 40 ms and delayed ACKs. Controls that need marks run over a queue that
gives them: DualPI2 (L4S), Cake (SCE), a step threshold of 3 ms (DCTCP).

Until 48be6d6 (2026-11-23) fairness was the mean of four entries over 40 ms alone, when a control
came to 0.8998 of 0.90; since then the entries are over paths of several lengths, because without
randomness each meets the queue in the same phase.
""",
    "queues": """\
## Queue disciplines

By themselves, at a link of 10 Mbit/s.
""",
    "transports": """\
## Transports

Over a bottleneck of 10 Mbit/s with a round trip of 40 ms.
""",
    "nodes": """\
## Nodes

Between two links of 1 ms.
""",
    "media": """\
## Shared media

Three stations, two of which talk with the third: four channels with packets of 1500 B.
""",
}


def page() -> str:
    """The page of what is stored."""
    found = [_row(told) for told in kept.rows("conformance", "suite")]
    parts = [_INTRODUCTION.format(stamp=kept.stamp("conformance"))]
    for kind in kinds():
        of_kind = [row for row in found if row.kind == kind]
        checks = "\n".join(f"- **{check.name}**: {check.legend}." for check in suite(kind))
        parts += [_KINDS[kind], "\n".join(_table(of_kind)) + "\n", checks + "\n"]
    told: dict[str, list[Row]] = {}
    for row in found:
        if row.verdict == "exception":
            told.setdefault(row.note, []).append(row)
    exceptions = (f"- {_names(of)}: {reason}." for reason, of in told.items())
    return "\n".join([*parts, "## Exceptions\n", *exceptions, ""])


def _row(told: kept.Row) -> Row:
    [check] = [check for check in suite(told["kind"]) if check.name == told["check"]]
    value = float(told["value"]) if told["value"] else None
    verdict = cast(Verdict, told["verdict"])
    return Row(told["kind"], told["name"], check, value, verdict, told["note"])


def _table(found: Sequence[Row]) -> Iterator[str]:
    checks = list(dict.fromkeys(row.check.name for row in found))
    yield f"| name | {' | '.join(checks)} |"
    yield f"| --- |{' ---: |' * len(checks)}"
    for name in dict.fromkeys(row.name for row in found):
        cells = (_cell(row) for row in found if row.name == name)
        yield f"| {name} | {' | '.join(cells)} |"


def _cell(row: Row) -> str:
    marks = {"exception": "*", "fails": "**", "error": "**"}.get(row.verdict, "")
    return f"{marks}{'error' if row.value is None else format(row.value, '.2f')}{marks}"


def _names(found: Iterable[Row]) -> str:
    by_name: dict[str, list[str]] = {}
    for row in found:
        by_name.setdefault(row.name, []).append(row.check.name)
    return "; ".join(f"**{name}**, {', '.join(checks)}" for name, checks in by_name.items())


def main() -> None:
    """Runs the suite, and writes the table and the page."""
    with claimed(tenant(SUITE), None, tell) as claim:
        found = rows(chosen(()), claim.work, os.cpu_count() or 1, lambda done, of: None)
    command = "python -m tools.pages.conformance"
    kept.store("conformance", command, {"suite": [row.cells() for row in found]})
    kept.put("conformance", page())


if __name__ == "__main__":
    main()
