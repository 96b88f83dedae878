"""The page of a comparison: what changed most, key metrics, what is not decided or the same."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sojourn.evaluation import directory as stored
from sojourn.evaluation.compare import CHANGED, Comparison, shown
from sojourn.evaluation.families import HOW
from sojourn.figures import forest
from sojourn.report.page import Page, Section, picture

_HOW = (
    "Means over replications; their difference A - B ± half of a 95 % confidence interval of its "
    "own; Cliff's delta; p of a permutation test after Holm's correction; and how many more runs "
    f"of each side would probably decide. {HOW}"
)
_UNSURE = "Of the other metrics: neither a difference nor its absence is certain."
_SAME = "Of the other metrics: equal, or certain to differ by less than the margin."


def page(directory: Path) -> Page:
    """The page of a comparison's directory."""
    made = stored.load(directory)
    others = made.family("other")
    tables = [
        _section("Key metrics", "As on the screen, what changed first.", made.family("key")),
        _section("Other changes", "The largest first.", _of(others, *CHANGED)),
        _section("Unsure", _UNSURE, _of(others, "unsure"), folded=True),
        _section("The same", _SAME, _of(others, "same"), folded=True),
    ]
    sections = [_pictured(made), *(section for section in tables if section.tables)]
    return Page(f"{made.a} against {made.b}", made.sentence, sections, made.notes)


def _pictured(made: Comparison) -> Section:
    chart = forest.chart(made.of(*CHANGED), made.a, made.b)
    on_a, on_b = (f", {on}" for on in made.on) if made.on else ("", "")
    notes = [f"A is {made.a}{on_a}; B is {made.b}{on_b}. {_HOW}"]
    if not chart:
        return Section("What changed most", [*notes, "No difference is certain."])
    return Section("What changed most", notes, pictures=[picture("forest", chart)])


def _of(rows: pl.DataFrame, *verdicts: str) -> pl.DataFrame:
    return rows.filter(pl.col("verdict").is_in(verdicts))


def _section(heading: str, told: str, rows: pl.DataFrame, *, folded: bool = False) -> Section:
    tables = [shown(rows)] if len(rows) else []
    return Section(heading, [told], tables=tables, folded=folded)
