"""A new version against an old one: whether it passes, as JUnit's XML and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from sojourn import literal
from sojourn.errors import ScenarioError
from sojourn.evaluation.compare import Comparison, Row, difference, judged, rows_of, shown
from sojourn.evaluation.families import CALLED, FAMILIES, HOW
from sojourn.evaluation.margins import Margins
from sojourn.evaluation.side import Side, Source, read
from sojourn.literal import printable
from sojourn.numbers import number
from sojourn.store.files import write_together
from sojourn.sweeps.table import markdown

XML, MARKDOWN = "gate.xml", "gate.md"
#: Verdicts that fail, and those that do so besides if the gate is strict.
FAILING, STRICT = ("worse",), ("different", "unsure")
_MOST_POINTS = 5


@dataclass(frozen=True)
class Gate:
    """What came of it."""

    comparison: Comparison
    #: The verdicts that fail.
    failing: tuple[str, ...]
    #: Point and error of the new runs that failed where the old ones did not.
    broken: list[tuple[str, str]]

    @property
    def passed(self) -> bool:
        """Whether nothing fails."""
        return not len(self.comparison.of(*self.failing)) and not self.broken

    @property
    def sentence(self) -> str:
        """Pass or fail, and why."""
        broken = f" {len(self.broken)} runs failed that did not before." if self.broken else ""
        return f"{'PASS' if self.passed else 'FAIL'}: {self.comparison.sentence}{broken}"


def gate(new: Source, baseline: Source, margins: Margins, *, strict: bool = False) -> Gate:
    """Judges ``new`` against ``baseline``: stores of the same sweep, or folders of the same sweeps.

    Raises:
        ScenarioError: if they are not of the same points.

    """
    return decide(read(new), read(baseline), margins, strict=strict)


def decide(a: Side, b: Side, margins: Margins, *, strict: bool = False) -> Gate:
    """Judges what has been read."""
    for side, other in ((a, b), (b, a)):
        known = {*other.points, *(point for point, _ in other.failures)}
        if strangers := [point for point in side.points if point not in known]:
            named = ", ".join(repr(point) for point in strangers[:_MOST_POINTS])
            raise ScenarioError(
                f"{other.name}: has no run of {len(strangers)} points of {side.name}: {named}; run "
                "the same sweep for both"
            )
    failing = (*FAILING, *(STRICT if strict else ()))
    return Gate(judged(a, b, margins), failing, _broken(a, b))


def _broken(new: Side, old: Side) -> list[tuple[str, str]]:
    before = {point for point, _ in old.failures}
    return [failure for failure in new.failures if failure[0] not in before]


def save(made: Gate, directory: Path) -> None:
    """Writes both files."""
    write_together(
        directory,
        {
            XML: lambda path: _xml(made).write(str(path), pretty=True),
            MARKDOWN: lambda path: path.write_text(_markdown(made), encoding="utf-8"),
        },
    )


def _xml(made: Gate) -> JUnitXml:
    """A suite for each point, a test case for each metric of a member."""
    whole = JUnitXml(printable(f"{made.comparison.a} against {made.comparison.b}"))
    for (point,), rows in made.comparison.table.group_by("point", maintain_order=True):
        suite = TestSuite(printable(str(point) or made.comparison.a))
        for row in rows_of(rows):
            suite.add_testcase(_case(row, made.failing))
        whole.add_testsuite(suite)
    if made.broken:
        suite = TestSuite("runs")
        for point, error in made.broken:
            case = TestCase(printable(point) or "run", "run")
            case.result = [Error(printable(error))]
            suite.add_testcase(case)
        whole.add_testsuite(suite)
    whole.update_statistics()  # type: ignore[no-untyped-call]
    return whole


def _case(row: Row, failing: tuple[str, ...]) -> TestCase:
    case = TestCase(row["metric"], printable(f"{row['scope']} {row['id']}".strip()))
    told = _told(row)
    if row["verdict"] in failing:
        case.result = [Failure(told, row["verdict"])]
    else:
        case.system_out = told
    return case


def _told(row: Row) -> str:
    """A finding in a line."""
    told = f"{row['verdict']}: {number(row['a'])} against {number(row['b'])}"
    if row["difference"] is not None:
        told += f", {'+' * (row['difference'] > 0)}{difference(row)}"
    if row["p"] is not None:
        told += f", p = {number(row['p'])}"
    if row["more_runs"] is not None:
        told += f"; {row['more_runs']} more runs would probably decide"
    return told


def _markdown(made: Gate) -> str:
    parts = [f"# {literal.markdown(made.sentence)}\n"]
    parts += [f"> {literal.markdown(note)}\n" for note in made.comparison.notes]
    parts.append(f"{HOW}\n")
    if made.broken:
        told = (f"{point or 'run'}: {error}" for point, error in made.broken)
        runs = [f"- {literal.markdown(run)}" for run in told]
        parts.append("\n".join(["## Runs that failed\n", *runs, ""]))
    for verdict in ("worse", "different", "better", *(("unsure",) * ("unsure" in made.failing))):
        for family in FAMILIES:
            rows = made.comparison.family(family).filter(pl.col("verdict") == verdict)
            if len(rows):
                table = shown(rows)
                cells = [
                    [c if isinstance(c, str) else number(c) for c in row] for row in table.rows
                ]
                heading = f"## {verdict.capitalize()}: {CALLED[family]}"
                parts.append(f"{heading}\n\n{markdown(table.header, cells)}")
    return "\n".join(parts)
