"""The report of a reproduced evaluation: the comparison, and the figures of its first run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from sojourn import csv_table, overview
from sojourn.figures.chart import PALETTE, Chart, Line, Panel
from sojourn.figures.thin import evenly
from sojourn.measured import Measured
from sojourn.metric_tables import family_title
from sojourn.metrics import Metric, metrics
from sojourn.report import run, spread
from sojourn.report.page import Page, Picture, Section, kept, picture
from sojourn.reproduction import statements
from sojourn.reproduction.compare import VALUES, heading
from sojourn.reproduction.found import paper as find
from sojourn.reproduction.paper import Paper, Request
from sojourn.reproduction.reproduce import COMPARISON, EXAMPLE, FIGURES, PICTURES, charts, shown
from sojourn.reproduction.statements import Row
from sojourn.store import manifest, run_directory
from sojourn.table import Table

_SPREAD = (
    "Spread: least to greatest (line), quartiles (box), median (stroke) over the replications and "
    "the published value (diamond), each row on a scale of its own."
)
#: Ratios beyond these are drawn at them.
_FARTHEST = 4.0
_STEPS = 400
_COLUMNS = ("published", "measured (median)", "difference", "spread")


def page(directory: Path) -> Page:
    """The page of a reproduction's directory."""
    content = manifest.read(directory)
    paper = find(content["paper"])
    rows = list(_rows(directory / COMPARISON))
    pictures = _pictures(paper, rows, Request(**content.get("request", {})), directory)
    sections = [_overview(paper, rows, pictures), *_comparison(paper, rows)]
    sections.append(Section("Set-up", ["How the published set-up was read."], content["choices"]))
    if (directory / EXAMPLE).is_dir():
        sections = _with_example(paper, run_directory.load(directory / EXAMPLE), sections)
    return Page(paper.title, _sentence(rows), sections, _warnings(rows))


def _with_example(paper: Paper, example: Measured, sections: Sequence[Section]) -> list[Section]:
    """The page with the first run at its end; without figures of its own, an evaluation opens with
    those of the run: one wants to see the experiment before what it is compared with.
    """
    if paper.charts:
        note, opening = "Figures, metrics and scenario of the first run.", []
        folded = run.sections(example)
    else:
        note, folded = "Metrics and scenario of the run above.", run.tables(example)
        told = [overview.sentence(example), "The first of the runs:"]
        drawn, words = run.pictures(example), run.words(example)
        opening = [Section("The experiment", told, pictures=drawn, lines=words)]
    closing = [replace(section, folded=True) for section in folded]
    return [*opening, *sections, Section("One of the runs", [note]), *closing]


def _sentence(rows: Sequence[Row]) -> str:
    beside = sum(1 for row in rows if row["published"] is not None and row["measured"] is not None)
    most = max((row["replications"] or 0 for row in rows), default=0)
    return (
        f"{len(rows):,} values measured over {most} replication{'s' * (most > 1)} each at most, "
        f"{beside:,} of them beside a published value."
    )


def _warnings(rows: Sequence[Row]) -> list[str]:
    repeated = [row for row in rows if (row["replications"] or 0) > 1]
    alike = [row for row in repeated if row["min"] == row["max"] and row["measured"] != 0]
    missing = sum(1 for row in rows if row["measured"] is None and row["published"] is not None)
    told = []
    if alike:
        told.append(
            f"warning: the replications of {len(alike):,} of {len(repeated):,} values are identical"
        )
    if missing:
        told.append(f"warning: {missing:,} published values have no measurement")
    return told


def _pictures(
    paper: Paper, rows: Sequence[Row], request: Request, directory: Path
) -> list[Picture]:
    """The paper's own figures, and how near the values are."""
    if (directory / PICTURES).exists():
        told = json.loads((directory / PICTURES).read_text(encoding="utf-8"))
        pictures = [kept(name, each, directory / FIGURES) for name, each in told.items()]
    else:
        made = charts(paper, rows, request, directory)
        pictures = [picture(name, chart) for name, chart in made.items()]
    # Tables of a paper's own are of differences too, of which a ratio says nothing.
    if not paper.sheets and (nearness := _nearness(rows)):
        pictures.append(picture("nearness", nearness))
    return pictures


def _overview(paper: Paper, rows: Sequence[Row], pictures: Sequence[Picture]) -> Section:
    """What a person looks for first."""
    if not paper.statements:
        return Section("Figures", pictures=pictures)
    every = statements.sheet(statements.judge(paper.statements, rows))
    judged = statements.judged_alone(every)
    table = Table(judged.title, judged.header, judged.rows, words=judged.words)
    return Section("Statements and figures", tables=[table], pictures=pictures)


def _nearness(rows: Sequence[Row]) -> Chart | None:
    """The distribution of measured over published."""
    ratios = np.sort(
        [
            row["measured"] / row["published"]
            for row in rows
            if row["published"] and row["measured"] and row["measured"] * row["published"] > 0
        ]
    )
    if len(ratios) < 2:
        return None
    drawn = ratios.clip(1 / _FARTHEST, _FARTHEST)
    kept = evenly(len(drawn), _STEPS)
    line = Line("", drawn[kept], (kept + 1) / len(drawn), PALETTE[0], "step")
    exact = Line("", [1, 1], [0, 1], PALETTE[1], dash="dashed")
    panel = Panel("Measured / published", "Share of values", [line, exact], log_x=True)
    near = float((np.abs(ratios - 1) <= 0.1).mean())
    caption = (
        f"Of {len(ratios):,} values, {100 * near:.0f} % lie within 10 % of the published one. "
        f"Ratios beyond {_FARTHEST:g} or its inverse are drawn there; values that are undefined, "
        "zero or of opposite signs are left out."
    )
    return Chart("How near measured values are to published ones", caption, [panel])


def _comparison(paper: Paper, rows: Sequence[Row]) -> list[Section]:
    """Published beside measured: the paper's own tables, or a line per value with its spread."""
    if paper.sheets:
        own = [s for s in shown(paper, rows) if s.name != statements.NAME]
        tables = [Table(s.title, s.header, s.rows, words=s.words) for s in own]
        return [Section("Published and measured", tables=tables)]
    grouped = groupby(rows, partial(heading, paper))
    tables = [table for title, group in grouped for table in _tables(title, paper, list(group))]
    return [Section("Published and measured", [_SPREAD], tables=tables)]


def _tables(title: str, paper: Paper, rows: Sequence[Row]) -> Iterator[Table]:
    """A table, or one for each family of the metrics that the rows are of."""
    label = paper.labels[0]
    known = {m.name: m for m in metrics()}
    places = {name: place for place, name in enumerate(known)}
    families: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: places.get(row[label], len(places))):
        metric = known.get(row[label])
        families.setdefault(family_title(metric) if metric else "", []).append(row)
    for family, members in families.items():
        lines = [_line(paper, row, known.get(row[label]) if family else None) for row in members]
        header = [*paper.labels, *(("unit", "what it is") if family else ())]
        name = ": ".join(filter(None, (title, family)))
        yield Table(name, [*header, *_COLUMNS], lines, words=len(header))


def _line(paper: Paper, row: Row, metric: Metric | None) -> list[object]:
    told = [metric.unit, metric.summary] if metric else []
    values = (row["published"], row["measured"], row["difference"], spread.picture(row))
    return [*(row[k] for k in paper.labels), *told, *values]


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv_table.read(file):
            yield {k: _value(v) if k in VALUES else v for k, v in row.items()}


def _value(text: str) -> float | None:
    return (int(text) if text.isdigit() else float(text)) if text else None
