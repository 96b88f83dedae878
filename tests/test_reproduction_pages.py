"""Pages of reproductions: rendered from what was measured, and what of that moved."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sojourn import ScenarioError
from sojourn.reproduction import compare
from sojourn.reproduction.card import Card
from sojourn.reproduction.paper import Paper
from sojourn.reproduction.statements import Finding, Statement, row_of
from tools import renew
from tools.pages import reproduction as pages

KEYS = ("place", "metric")


@pytest.mark.parametrize("name", pages.written())
def test_a_page_is_what_was_measured(name: str) -> None:
    for path, text in pages.pages(name).items():
        written = path.read_text(encoding="utf-8")
        assert written == text, f"{path.name}: run python -m tools.pages.reproduction {name}"


def row(place: str, measured: float | None, low: float = 0.0, high: float = 0.0, n: int = 3) -> Any:
    spread = {"measured": measured, "min": low, "max": high, "replications": n, "published": 2.0}
    return dict.fromkeys(compare.VALUES) | {"place": place, "metric": "rate"} | spread


def _met(rows: Any) -> Finding:
    measured = row_of(rows, place="near")["measured"]
    return Finding(measured < 2, f"{measured:g}")


@pytest.fixture
def measured(tmp_path: Path) -> pages.Measured:
    """Two places, one of them twice."""
    statement = Statement("slow", "4", "The rate is small", "below 2", _met)
    paper = Paper(
        name="made",
        title="Made",
        keys=KEYS,
        labels=("place",),
        tables=(),
        card=Card(date(2026, 11, 25)),
        cells=lambda request: (),
        statements=(statement,),
    )
    folder = tmp_path / pages.MEASURED
    folder.mkdir()
    rows = [row("near", 1.0), row("far", 3.0), row("far", 4.0)]
    compare.write(folder / "comparison.csv", KEYS, rows)
    return pages.Measured(paper, tmp_path)


def test_a_page_takes_values_by_their_keys(measured: pages.Measured) -> None:
    assert measured.cell(place="near") == 1.0
    assert measured.cell("published", place="near") == 2.0
    assert measured.entry("rate", "median", place="near") == 1.0
    assert measured.statement("slow")["finding"] == "confirmed"
    assert (measured.count(), measured.count("confirmed", section="4")) == (1, 1)
    assert (measured.count("not confirmed"), measured.count(section="5")) == (0, 0)
    assert measured.table("rate", "place", "median").splitlines()[2] == "| near | 1.000 |"


def test_a_page_tells_what_an_ablation_measured(measured: pages.Measured) -> None:
    folder = measured.folder / pages.MEASURED / pages.ABLATED
    folder.mkdir()
    rows = [{"ablation": name, **row("near", value)} for name, value in (("a", 1.5), ("b", 2.5))]
    compare.write(folder / "comparison.csv", ("ablation", *KEYS), rows)
    assert measured.ablated("b").cell(place="near") == 2.5
    assert measured.ablated("a").statement("slow")["finding"] == "confirmed"
    assert measured.ablated("b").statement("slow")["finding"] == "not confirmed"
    assert measured.cell(place="near") == 1.0
    with pytest.raises(ScenarioError, match="ablation c: is not measured; run make renew"):
        measured.ablated("c")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda m: m.table("rates"), "unknown table 'rates'; did you mean 'rate'?"),
        (lambda m: m.table("rate", "mean"), "rate: unknown column 'mean'"),
        (lambda m: m.entry("rate", "median", place="home"), "rate: 0 rows with place = home"),
        (lambda m: m.entry("rate", "median", site="near"), "rate: unknown column 'site'"),
        (lambda m: m.statement("fast"), "statements: 0 rows with id = fast; expected one"),
        (lambda m: m.cell(place="home"), "comparison.csv: 0 rows with place = home"),
        (lambda m: m.cell(place="far"), "comparison.csv: 2 rows with place = far; expected one"),
        (lambda m: m.cell("median", place="near"), "comparison.csv: unknown column 'median'"),
        (lambda m: m.ablated("rate"), "ablation rate: is not measured; run make renew"),
    ],
)
def test_a_page_tells_of_nothing_that_there_is_not(
    asked: Any, message: str, measured: pages.Measured
) -> None:
    with pytest.raises(ScenarioError) as error:
        asked(measured)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        # Each median outside the other's range; then one of them, and both, inside.
        (row("a", 5.0, 4.0, 6.0), row("a", 8.0, 7.0, 9.0), ["a rate: 5.0 -> 8.0"]),
        (row("a", 5.0, 4.0, 8.5), row("a", 8.0, 7.0, 9.0), []),
        (row("a", 5.0, 4.0, 6.0), row("a", 8.0, 4.5, 9.0), []),
        # One replication has no range: by more than a hundredth.
        (row("a", 5.0, 5.0, 5.0, 1), row("a", 5.04, 5.04, 5.04, 1), []),
        (row("a", 5.0, 5.0, 5.0, 1), row("a", 5.06, 5.06, 5.06, 1), ["a rate: 5.0 -> 5.06"]),
        (row("a", 5.0, 4.0, 6.0), row("a", None, n=0), ["a rate: 5.0 -> -"]),
        (row("a", None, n=0), row("a", None, n=0), []),
        (row("a", 5.0), row("b", 5.0), ["b rate: is new", "a rate: is gone"]),
    ],
)
def test_what_moved_by_more_than_its_noise_is_told(then: Any, now: Any, told: list[str]) -> None:
    def read(line: Any) -> dict[str, str]:
        return {name: "" if value is None else str(value) for name, value in line.items()}

    assert list(renew.moved([read(then)], [read(now)], KEYS)) == told


def test_what_is_measured_for_the_first_time_has_not_moved() -> None:
    assert list(renew.moved([], [{"place": "a", "metric": "rate", "measured": "1"}], KEYS)) == []
