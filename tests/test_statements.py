"""What statements.csv is, for every paper, and rank correlations."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from conftest import Command
from sojourn.installed import REPRODUCTIONS, points
from sojourn.reproduction.found import paper
from sojourn.reproduction.rank import rank_correlation
from sojourn.reproduction.statements import (
    HEADER,
    Finding,
    Statement,
    judge,
    judged_alone,
    row_of,
    sheet,
)

FINDINGS = {"confirmed", "not confirmed", "not run"}


@pytest.mark.parametrize("name", points(REPRODUCTIONS))
def test_every_paper_has_statements_and_they_bear_that_nothing_was_run(name: str) -> None:
    statements = paper(name).statements
    made = sheet(judge(statements, []))
    assert tuple(made.header) == ("id", "section", "statement", "criterion", "finding", "numbers")
    assert made.name == "statements"
    rows = [dict(zip(HEADER, row, strict=True)) for row in made.rows]
    assert rows
    assert len({row["id"] for row in rows}) == len(rows)
    assert {row["finding"] for row in rows} == {"not run"}
    assert all(all(row.values()) for row in rows)


@pytest.mark.parametrize("name", points(REPRODUCTIONS))
def test_unmeasured_rows_are_not_run(name: str) -> None:
    """Rows of a paper whose runs have no value, and no published one beside it."""
    from sojourn.reproduction.compare import VALUES
    from sojourn.reproduction.paper import Request

    cells = list(paper(name).cells(Request(quick=True)))
    rows = [{**cell.keys, **dict.fromkeys(VALUES)} for cell in cells]
    findings = {finding.word for _, finding in judge(paper(name).statements, rows)}
    assert findings == {"not run"}


def test_a_finding_is_one_of_three_words() -> None:
    assert {Finding(found, "").word for found in (True, False, None)} == FINDINGS


def test_people_are_told_how_many_were_not_judged() -> None:
    pairs = [("a", True), ("b", None), ("c", None)]
    found = [(name, Finding(held, "numbers")) for name, held in pairs]
    every = sheet(
        (Statement(name, "1", "t", "c", lambda _rows: Finding(None, "")), f) for name, f in found
    )
    shown = judged_alone(every)
    assert [row[0] for row in shown.rows] == ["a"]
    assert shown.title == "Statements (2 more need what was not run)"
    assert len(every.rows) == 3


def test_a_missing_row_is_named() -> None:
    statement = Statement("a", "1", "t", "c", lambda rows: Finding(bool(row_of(rows, row="x")), ""))
    (judged,) = judge([statement], [{"row": "x", "published": 1.0, "measured": None}])
    assert judged[1] == Finding(None, "needs published and measured x")


def test_the_file_has_the_form_that_others_read(called: Command, tmp_path: Path) -> None:
    law = (
        "--where",
        "law=fixed window's throughput",
        "--where",
        "law=fixed window's queueing delay",
    )
    assert called("reproduce", "theory", *law, "--out", "out").returncode == 0
    with (tmp_path / "out/tables/statements.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = {row["id"]: row for row in reader}
        assert tuple(reader.fieldnames or ()) == HEADER
    assert rows["fixed-window"]["finding"] == "confirmed"
    assert rows["square-root"]["finding"] == rows["sawtooth"]["finding"] == "not run"


def test_rank_correlation_of_known_orders() -> None:
    up = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert rank_correlation(up, up).tau == pytest.approx(1)
    assert rank_correlation(up, up[::-1]).tau == pytest.approx(-1)
    # Of 15 pairs 12 are concordant and 3 are not.
    one = rank_correlation(up, (2.0, 1.0, 4.0, 3.0, 6.0, 5.0))
    assert one.tau == pytest.approx((12 - 3) / 15)
    assert -1 <= one.low < one.tau < one.high <= 1
    with pytest.raises(KeyError):
        rank_correlation(up[:3], up[:3])
