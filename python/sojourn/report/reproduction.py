"""The report of a reproduced evaluation: the comparison, and the figures of its first run."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sojourn.papers import PAPERS
from sojourn.papers.compare import VALUES
from sojourn.papers.reproduce import COMPARISON, EXAMPLE, shown
from sojourn.report import run
from sojourn.report.page import Page, Section
from sojourn.store import manifest, run_directory
from sojourn.table import Table


def page(directory: Path) -> Page:
    """The page of a reproduction's directory."""
    content = manifest.read(directory)
    paper = PAPERS[content["paper"]]
    rows = list(_rows(directory / COMPARISON))
    comparison = Section(
        "Published and measured",
        ["The set-up:"],
        content["choices"],
        [Table(s.title, list(s.header), list(s.rows), words=s.words) for s in shown(paper, rows)],
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
            yield {k: _value(v) if k in VALUES else v for k, v in row.items()}


def _value(text: str) -> float | None:
    return (int(text) if text.isdigit() else float(text)) if text else None
