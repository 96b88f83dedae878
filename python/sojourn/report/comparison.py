"""The page of a comparison: what changed most, what is the same, what is not decided."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sojourn.evaluation import directory as stored
from sojourn.evaluation.compare import CHANGED, HEADER, WORDS, Comparison, lines
from sojourn.figures import forest
from sojourn.report.page import Page, Section, picture
from sojourn.table import Table

_HOW = (
    "Means over replications; their difference A - B with a 95 % confidence interval of its own; "
    "Cliff's delta; p of a permutation test after Holm's correction over all comparisons."
)
_UNSURE = (
    "Neither a difference nor its absence is certain; so many more runs of each side would "
    "probably decide."
)


def page(directory: Path) -> Page:
    """The page of a comparison's directory."""
    made = stored.load(directory)
    sections = _changed(made)
    undecided, same = made.of("unsure"), made.of("same")
    if len(undecided):
        more = zip(lines(undecided), undecided["more_runs"], strict=True)
        table = Table("", [*HEADER, "more runs"], [[*row, n] for row, n in more], words=WORDS)
        sections.append(Section("Unsure", [_UNSURE], tables=[table], folded=True))
    if len(same):
        hint = "Equal, or certain to differ by less than the margin."
        sections.append(Section("The same", [hint], tables=[_table(same)], folded=True))
    return Page(f"{made.a} against {made.b}", made.sentence, sections, made.notes)


def _changed(made: Comparison) -> list[Section]:
    changed = made.of(*CHANGED)
    notes = [f"A is {made.a}, B is {made.b}. {_HOW}"]
    if not len(changed):
        return [Section("What changed most", [*notes, "No difference is certain."])]
    chart = forest.chart(changed, made.a, made.b)
    pictures = [picture("forest", chart)] if chart else []
    return [
        Section("What changed most", notes, pictures=pictures),
        Section("Every change", ["The largest first."], tables=[_table(changed)]),
    ]


def _table(rows: pl.DataFrame) -> Table:
    return Table("", HEADER, lines(rows), words=WORDS)
