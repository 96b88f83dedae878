"""Cards of reproductions: each parameter and criterion says what it rests on."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from sojourn import ScenarioError
from sojourn.reproduction.card import Card, read
from sojourn.reproduction.found import papers
from sojourn.reproduction.paper import Paper

ONE = """
date = 2026-11-25

[[parameters]]
name = "RTT"
value = "80 ms"
origin = "chosen"
why = "the slides do not say"

[[criteria]]
statements = ["gain"]
origin = "predicted"
why = "settled before the first run"
"""


def card(folder: Path, text: str) -> Card:
    path = folder / "card.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_a_card_tells_what_is_calibrated(tmp_path: Path) -> None:
    told = card(tmp_path, ONE.replace("predicted", "calibrated"))
    assert told.date == date(2026, 11, 25)
    assert [str(parameter) for parameter in told.parameters] == ["RTT: 80 ms (chosen)"]
    assert told.is_calibrated("gain")
    assert not card(tmp_path, ONE).is_calibrated("gain")


@pytest.mark.parametrize(
    ("now", "then", "message"),
    [
        ("date = 2026-11-25", "", "has no date"),
        ("date = 2026-11-25", 'date = "yesterday"', "date: 'yesterday' given; expected a date"),
        ('why = "the', 'wy = "the', "parameters.0: unknown key 'wy'"),
        ('value = "80 ms"', "", "parameters.0: has no value"),
        ('"chosen"', '"guessed"', "parameters.0.origin: 'guessed' given; allowed: published"),
        ('"predicted"', '"published"', "criteria.0.origin: 'published' given; allowed: predicted"),
        ("[[criteria]]", "[[criterion]]", "unknown key 'criterion'"),
    ],
)
def test_what_is_wrong_with_a_card_is_named(
    now: str, then: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match=r"card\.toml: .*") as error:
        card(tmp_path, ONE.replace(now, then, 1))
    assert message in str(error.value)


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_each_statement_is_on_the_card_once(paper: Paper) -> None:
    ids = [statement.id for statement in paper.statements]
    assert sorted(i for c in paper.card.criteria for i in c.statements) == sorted(ids)
    assert {i for change in paper.card.changes for i in change.statements} <= {*ids}
    assert len(paper.judged) + len(paper.calibrated) == len(ids)


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_what_a_card_says_is_whole(paper: Paper) -> None:
    assert paper.card.parameters
    for told in (*paper.card.parameters, *paper.card.criteria, *paper.card.changes):
        assert told.why.strip()
    for choice in map(str, paper.card.parameters):
        assert not choice.endswith((",", ";", " and")), choice
        assert choice.count("(") == choice.count(")"), choice
