"""The report of a reproduced evaluation: the comparison, and the figures of its first run."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sojourn.papers import PAPERS
from sojourn.papers.compare import heading
from sojourn.papers.reproduce import COMPARISON, EXAMPLE
from sojourn.report import run
from sojourn.report.page import Page, Section, Table
from sojourn.store import manifest, run_directory

_SHOWN = {
    "published": "published",
    "measured": "median",
    "difference": "difference",
    "q1": "q1",
    "q3": "q3",
    "min": "min",
    "max": "max",
    "replications": "runs",
}


def page(directory: Path) -> Page:
    """The page of a reproduction's directory."""
    content = manifest.read(directory)
    paper = PAPERS[content["paper"]]
    rows = list(_rows(directory / COMPARISON))
    comparison = Section(
        "Published and measured",
        ["The set-up:"],
        content["choices"],
        [
            _table(title, paper.labels, list(group))
            for title, group in groupby(rows, lambda row: heading(paper, row))
        ],
    )
    sections = [comparison]
    if (directory / EXAMPLE).is_dir():
        example = run_directory.load(directory / EXAMPLE)
        note = "Figures, metrics and scenario of the first run."
        sections += [Section("One of the runs", [note]), *run.sections(example)]
    return Page(paper.title, f"{len(rows)} values", sections)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {k: _value(v) if k in _SHOWN else v for k, v in row.items()}


def _value(text: str) -> float | None:
    return (int(text) if text.isdigit() else float(text)) if text else None


def _table(title: str, labels: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Table:
    cells = [[*(row[k] for k in labels), *(row[k] for k in _SHOWN)] for row in rows]
    return Table(title, [*labels, *_SHOWN.values()], cells, words=len(labels))
