"""The page of a comparison: key metrics, what changed most, what is not decided or the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
    sections = [
        _section("Key metrics", f"A is {made.a}, B is {made.b}. {_HOW}", made.family("key")),
        _changed(made, _of(others, *CHANGED)),
        _section("Unsure", _UNSURE, _of(others, "unsure"), folded=True),
        _section("The same", _SAME, _of(others, "same"), folded=True),
    ]
    told = [section for section in sections if section.tables or section.pictures]
    return Page(f"{made.a} against {made.b}", made.sentence, told, made.notes)


def _changed(made: Comparison, others: pl.DataFrame) -> Section:
    chart = forest.chart(made.of(*CHANGED), made.a, made.b)
    pictures = [picture("forest", chart)] if chart else []
    told = "The table is of the other metrics, the figure of all."
    return _section("What changed most", told, others, pictures=pictures)


def _of(rows: pl.DataFrame, *verdicts: str) -> pl.DataFrame:
    return rows.filter(pl.col("verdict").is_in(verdicts))


def _section(heading: str, told: str, rows: pl.DataFrame, **more: Any) -> Section:
    return Section(heading, [told], tables=[shown(rows)] if len(rows) else [], **more)
