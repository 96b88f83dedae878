"""The page of a reproduction: its text, with the numbers of its last whole run.

``python -m tools.pages.reproduction NAME...`` writes ``README.md`` in the folder of each from what
lies there: ``page.md.j2`` has the text, ``measured/`` what was measured, ``card.toml`` what it
rests on. Of another template, such as ``tables.md.j2``, it makes a page beside it, ``TABLES.md``;
those that they include are in a folder of their own.
``make renew NAME=...`` measures.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

from sojourn import csv_table, installed
from sojourn.errors import ScenarioError
from sojourn.names import unknown
from sojourn.numbers import number
from sojourn.reproduction import sheet as sheets
from sojourn.reproduction import statements
from sojourn.reproduction.card import Card
from sojourn.reproduction.compare import VALUES
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Paper
from sojourn.reproduction.reproduce import COMPARISON, shown
from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from tools import ablations

#: A template, the ending of all, and the page that the first one makes.
SOURCE, TEMPLATE, PAGE = "page.md.j2", ".md.j2", "README.md"
#: The directory of what was measured, that below it of what was with choices taken back, and the
#: file in either that says by what and when.
MEASURED, ABLATED, ABOUT = "measured", "ablations", "about.toml"


@dataclass(frozen=True)
class Measured:
    """What a reproduction measured, for its page.

    Raises:
        ScenarioError: names the table, statement, column or row that there is not, so that no page
            tells of what was not run.

    """

    paper: Paper
    folder: Path
    #: The ablation of which it is, by name; of none if empty.
    ablation: str = ""

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The comparison."""
        with (self._place / COMPARISON).open(encoding="utf-8", newline="") as file:
            rows = [_typed(row) for row in csv_table.read(file)]
        return [row for row in rows if row.get(ablations.KEY, "") == self.ablation]

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """``command``, ``date``, ``build``, ``seconds`` of processor time, and of a whole run its
        ``cases``.
        """
        found: dict[str, Any] = tomllib.loads((self._place / ABOUT).read_text(encoding="utf-8"))
        return found

    def ablated(self, name: str) -> Measured:
        """What an ablation measured."""
        found = replace(self, ablation=name)
        if not (found._place / COMPARISON).exists() or not found.rows:
            part = f"{self.paper.name}-{ABLATED}"
            raise ScenarioError(f"ablation {name}: is not measured; run make renew NAME={part}")
        return found

    @property
    def _place(self) -> Path:
        return self.folder / MEASURED / (ABLATED if self.ablation else "")

    @cached_property
    def sheets(self) -> Mapping[str, Sheet]:
        """The tables, by name."""
        return {sheet.name: sheet for sheet in shown(self.paper, self.rows)}

    def table(self, name: str, *columns: str) -> str:
        """A table in Markdown, or these columns of it."""
        found = self._sheet(name)
        if columns:
            places = [_place(found, column) for column in columns]
            rows = [[row[place] for place in places] for row in found.rows]
            words = sum(place < found.words for place in places)
            found = replace(found, header=columns, rows=rows, words=words)
        return _untitled(found)

    def entry(self, table: str, column: str, /, **keys: object) -> Any:
        """What a table has in a column, in the one row with these keys."""
        found = self._sheet(table)
        for key in (column, *keys):
            _place(found, key)
        return _one(found.name, self.lines(table), keys)[column]

    def statement(self, name: str) -> Mapping[str, Any]:
        """A statement's columns (``finding``, ``numbers``, ...), judged or calibrated."""
        told = [
            line
            for table in (statements.NAME, statements.CALIBRATED)
            for line in (self.lines(table) if table in self.sheets else ())
        ]
        return _one(statements.NAME, told, {"id": name})

    def count(self, finding: str = "", *, section: str = "") -> int:
        """How many judged statements have a finding, or all; of a section, if one is named."""
        return sum(
            finding in ("", line["finding"]) and section in ("", line["section"])
            for line in self.lines(statements.NAME)
        )

    def cell(self, column: str = "measured", /, **keys: str) -> Any:
        """A value of the one row of the comparison with these keys."""
        for key in (column, *keys):
            if key not in self.rows[0]:
                raise ScenarioError(f"{COMPARISON}: {unknown('column', key, self.rows[0])}")
        return _one(COMPARISON, self.rows, keys)[column]

    def _sheet(self, name: str) -> Sheet:
        if name not in self.sheets:
            raise ScenarioError(unknown("table", name, self.sheets))
        return self.sheets[name]

    def lines(self, table: str) -> list[Row]:
        """The rows of a table, each by its columns."""
        found = self._sheet(table)
        return [dict(zip(found.header, row, strict=True)) for row in found.rows]


def _place(sheet: Sheet, column: str) -> int:
    if column not in sheet.header:
        raise ScenarioError(f"{sheet.name}: {unknown('column', column, sheet.header)}")
    return list(sheet.header).index(column)


def _one(table: str, rows: Sequence[Row], keys: Mapping[str, object]) -> Row:
    """The only row with these keys."""
    found = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    if len(found) != 1:
        told = ", ".join(f"{key} = {value}" for key, value in keys.items())
        raise ScenarioError(f"{table}: {len(found)} rows with {told}; expected one")
    return found[0]


def _untitled(sheet: Sheet) -> str:
    """A table in Markdown without its title."""
    return sheets.markdown(sheet).partition("\n\n")[2].rstrip("\n")


def markdown(header: Sequence[str], rows: Sequence[Sequence[Any]], words: int) -> str:
    """A table of a page's own in Markdown; the first ``words`` columns are text."""
    return _untitled(Sheet("", "", header, rows, words))


def _typed(row: Mapping[str, str]) -> Row:
    """With numbers where the comparison has numbers."""
    return {
        name: (float(value) if value else None) if name in VALUES else value
        for name, value in row.items()
    }


def card(found: Card) -> str:
    """A card as it stands on a page."""
    told = ["| parameter | value | origin | why |", "| --- | --- | --- | --- |"]
    for p in found.parameters:
        name = f"{p.name} ({', '.join(p.sections)})" if p.sections else p.name
        told.append(f"| {' | '.join(map(_cell, (name, p.value, p.origin, p.why)))} |")
    told += ["", "| statements | origin | why |", "| --- | --- | --- |"]
    for c in found.criteria:
        told.append(f"| {' | '.join(map(_cell, (', '.join(c.statements), c.origin, c.why)))} |")
    for change in found.changes:
        commit = f" ({change.commit})" if change.commit else ""
        told += [
            "",
            f"- **{change.date}{commit}, {change.of}** ({', '.join(change.statements)}). Before: "
            f"{change.former}. Since: {change.now}. Why: {change.why}. Outcome before: "
            f"{change.outcome_former}. Outcome since: {change.outcome_now}.",
        ]
    return "\n".join(told)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def environment(folder: Path) -> jinja2.Environment:
    """What templates in a folder have; a name that there is not is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters["n"] = number
    return made


def pages(name: str) -> dict[Path, str]:
    """The pages of a reproduction, in Markdown, by their paths."""
    folder = home(name)
    measured = Measured(paper(name), folder)
    told = {
        "about": measured.about,
        "rows": measured.rows,
        "sheets": measured.sheets,
        "table": measured.table,
        "lines": measured.lines,
        "entry": measured.entry,
        "statement": measured.statement,
        "count": measured.count,
        "cell": measured.cell,
        "ablations": ablations.read(measured.paper, folder) if _is_ablated(folder) else [],
        "ablated": measured.ablated,
        "card": card(measured.paper.card),
    }
    return {
        folder / _named(source): environment(folder).get_template(source.name).render(told)
        for source in sorted(folder.glob(f"*{TEMPLATE}"))
    }


def _is_ablated(folder: Path) -> bool:
    return (folder / ablations.FILE).exists()


def _named(source: Path) -> str:
    return PAGE if source.name == SOURCE else f"{source.name.removesuffix(TEMPLATE).upper()}.md"


def write(name: str) -> None:
    """Writes the pages of a reproduction."""
    for path, text in pages(name).items():
        path.write_text(text, encoding="utf-8")


def home(name: str) -> Path:
    """The folder of a reproduction."""
    folder = installed.folder(name)
    assert folder, name
    return folder


def written() -> list[str]:
    """The reproductions that have such pages."""
    names = installed.points(installed.REPRODUCTIONS)
    return [name for name in names if (home(name) / SOURCE).exists()]


if __name__ == "__main__":
    for asked in sys.argv[1:] or written():
        write(asked)
