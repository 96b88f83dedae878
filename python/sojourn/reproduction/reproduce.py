"""Runs what a published evaluation needs and compares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.campaign.cases import AnyCase, Case, Results
from sojourn.campaign.finished import Run, stored
from sojourn.campaign.run import run
from sojourn.errors import ScenarioError
from sojourn.executors import Executor, threads
from sojourn.measured import Measured
from sojourn.names import unknown
from sojourn.reproduction import compare, sheet, statements
from sojourn.reproduction.directory import KIND, content
from sojourn.reproduction.paper import Cell, Paper, Request, below
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn.scenario import Scenario
from sojourn.store import manifest, run_directory
from sojourn.store.batches import tell
from sojourn.store.files import write_atomically
from sojourn.store.layout import clear_derived
from sojourn.store.samples import unpacked

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

#: The directory of the first run, whose figures the report shows.
EXAMPLE = "example"
COMPARISON = "comparison.csv"
#: Directories of the tables and figures.
TABLES = "tables"
FIGURES = "figures"
#: What the page shows of the figures.
PICTURES = "pictures.json"
Progress = Callable[[int, int], None]
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Reproduction:
    """A published evaluation, reproduced."""

    paper: Paper
    rows: Sequence[Row]
    #: How the set-up of what was asked for was read.
    choices: Sequence[str]
    #: The tables that show them, and what the statements came to.
    sheets: Sequence[Sheet]


def reproduce(
    chosen: Paper,
    request: Request,
    out: Path,
    jobs: int,
    progress: Progress,
    warn: Warn = tell,
    execute: Executor = threads.execute,
) -> Reproduction:
    """Runs the cases of the requested cells and writes ``comparison.csv`` to ``out``."""
    check(chosen, request)
    cells = [cell for cell in chosen.cells(request) if _wanted(cell, request)]
    if not cells:
        raise ScenarioError(_nothing(chosen, request))
    cases = needed(chosen, cells, request)
    example = next((case for case in cases if type(case) is Case), None)

    def heard(done: Run) -> None:
        if done.case == example and done.samples is not None:
            _save_example(done, out / EXAMPLE)

    results = run(cases, out, jobs, progress, execute, heard)
    rows = [compare.compare(cell, results) for cell in cells]
    compare.write(out / COMPARISON, chosen.keys, rows)
    manifest.write(out, KIND, content(chosen, request))
    clear_derived(out)
    sheets = shown(chosen, rows)
    sheet.write(sheets, out / TABLES)
    _draw(chosen, rows, request, results, out, warn)
    return Reproduction(chosen, rows, chosen.choices_of(request), sheets)


def shown(chosen: Paper, rows: Sequence[Row]) -> list[Sheet]:
    """The tables of a comparison: its own, of what was run, or a line per cell; then its
    statements.
    """
    own = (chosen.sheets or partial(compare.lines, chosen))(rows)
    filled = [sheet for sheet in own if sheet.rows]
    told = [statements.sheet(statements.judge(chosen.judged, rows))]
    met = [found for found in statements.judge(chosen.calibrated, rows) if found[1].was_run]
    if met:
        told.append(statements.calibrated(met))
    return [*filled, *told]


def needed(chosen: Paper, cells: Sequence[Cell], request: Request) -> list[AnyCase]:
    """What cells and figures need, each once."""
    of_cells = (case for cell in cells for group in cell.replications for case in group)
    of_figures = chosen.drawn([cell.keys for cell in cells], request) if chosen.drawn else ()
    return list(dict.fromkeys(chain(of_cells, of_figures)))


def charts(
    chosen: Paper, rows: Sequence[Row], request: Request, directory: Path
) -> Mapping[str, Chart]:
    """The figures of a directory; none where runs that they need are not stored."""
    drawn = list(chosen.drawn(rows, request)) if chosen.drawn else []
    results = stored(directory, drawn)
    if not chosen.charts or len(results) < len({*drawn}):
        return {}
    return chosen.charts(rows, request, results)


def _draw(
    chosen: Paper,
    rows: Sequence[Row],
    request: Request,
    results: Results,
    out: Path,
    warn: Warn,
) -> None:
    if chosen.charts:
        from sojourn.figures import save_each

        try:
            charts = chosen.charts(rows, request, results)
        except Exception as error:
            warn(f"figures of {chosen.name} could not be drawn: {type(error).__name__}: {error}")
            return
        save_each(charts, charts.__getitem__, out / FIGURES, warn)
        try:
            write_atomically(out / PICTURES, partial(_keep, charts))
        except Exception as error:
            warn(f"figures of the page could not be kept: {type(error).__name__}: {error}")


def _keep(charts: Mapping[str, Chart], path: Path) -> None:
    """What the page shows of figures: some are of runs that it would have to make again."""
    from sojourn.figures.page import render

    kept = {
        name: {"title": chart.title, "caption": chart.caption, "interactive": render(chart)}
        for name, chart in charts.items()
    }
    path.write_text(json.dumps(kept, separators=(",", ":")), encoding="utf-8")


def check(chosen: Paper, request: Request) -> None:
    """Refuses tables, keys and lengths that the evaluation has not."""
    if request.full and (request.quick or not chosen.shortened):
        why = (
            "give it or --quick"
            if request.quick
            else f"{chosen.name} is not shortened; leave it out"
        )
        raise ScenarioError(f"--full: {why}")
    for table in request.tables:
        if table not in chosen.tables:
            raise ScenarioError(f"--table: {unknown('table', table, chosen.tables)}")
    if request.sections and "section" not in chosen.keys:
        raise ScenarioError(f"--section: {chosen.name} is not told apart by sections; see --table")
    for section in request.sections:
        if not all(number.isdigit() for number in section.split(".")):
            raise ScenarioError(f"--section {section}: expected numbers, such as 3.1.7")
    for key in request.where:
        if key not in chosen.keys:
            raise ScenarioError(f"--where: {unknown('key column', key, chosen.keys)}")


def _nothing(chosen: Paper, request: Request) -> str:
    """Why no cell is wanted."""
    known = dict.fromkeys(cell.keys.get("section", "") for cell in chosen.cells(Request()))
    for section in request.sections:
        if not any(below(name, section) for name in known):
            return f"--section {section}: is not reproduced; there are {', '.join(known)}"
    return "--where, --section: no cell of the published tables is like that"


def _wanted(cell: Cell, request: Request) -> bool:
    alike = all(cell.keys.get(key) in values for key, values in request.where.items())
    return alike and request.covers(cell.keys.get("section", ""))


def _save_example(run: Run, directory: Path) -> None:
    assert isinstance(run.case, Case)
    assert run.samples is not None
    scenario = Scenario(run.case.canonical, run.case.canonical)
    run_directory.save(Measured(scenario, unpacked(run.samples), run.timing), directory)


def parse_where(conditions: Iterable[str]) -> dict[str, list[str]]:
    """``key=value`` conditions: all keys must hold, each with any of its values."""
    where: dict[str, list[str]] = {}
    for condition in conditions:
        key, equals, value = (part.strip() for part in condition.partition("="))
        if not equals:
            raise ScenarioError(f"--where {condition}: expected key=value")
        where.setdefault(key, []).append(value)
    return where
