"""The page of a reproduction: its text, with the numbers of its last whole run.

``python -m tools.pages.reproduction NAME...`` writes ``README.md`` in the folder of each from what
lies there: ``page.md.j2`` and what it includes have the text, ``measured/`` what was measured,
``card.toml`` what it rests on. ``make renew NAME=...`` measures.
"""

from __future__ import annotations

import csv
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2

from sojourn import installed
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

SOURCE, PAGE = "page.md.j2", "README.md"
#: The directory of what was measured, and the file that says by what and when.
MEASURED, ABOUT = "measured", "about.toml"


@dataclass(frozen=True)
class Measured:
    """What a reproduction measured, for its page. A name that there is not is an error, so that no
    page tells of what was not run.
    """

    paper: Paper
    folder: Path

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The comparison."""
        with (self.folder / MEASURED / COMPARISON).open(encoding="utf-8", newline="") as file:
            return [_typed(row) for row in csv.DictReader(file)]

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """``command``, ``date``, ``build``, ``cases``, and ``seconds`` of processor time."""
        found: dict[str, Any] = tomllib.loads(
            (self.folder / MEASURED / ABOUT).read_text(encoding="utf-8")
        )
        return found

    @cached_property
    def sheets(self) -> Mapping[str, Sheet]:
        """The tables, by name."""
        return {sheet.name: sheet for sheet in shown(self.paper, self.rows)}

    def table(self, name: str, *columns: str) -> str:
        """A table in Markdown, or these columns of it."""
        found = self.sheets[name]
        if columns:
            places = [list(found.header).index(column) for column in columns]
            rows = [[row[place] for place in places] for row in found.rows]
            words = sum(place < found.words for place in places)
            found = replace(found, header=columns, rows=rows, words=words)
        return sheets.markdown(found).partition("\n\n")[2].rstrip("\n")

    def statement(self, name: str) -> Mapping[str, Any]:
        """A statement's columns (``finding``, ``numbers``, ...), judged or calibrated."""
        for told in (statements.NAME, statements.CALIBRATED):
            for row in self.sheets[told].rows if told in self.sheets else ():
                if row[0] == name:
                    return dict(zip(statements.HEADER, row, strict=True))
        raise KeyError(name)

    def count(self, finding: str, *, section: str = "") -> int:
        """How many judged statements, of a section if one is named, have a finding."""
        at = {column: place for place, column in enumerate(statements.HEADER)}
        return sum(
            row[at["finding"]] == finding and section in ("", row[at["section"]])
            for row in self.sheets[statements.NAME].rows
        )

    def cell(self, column: str = "measured", /, **keys: str) -> Any:
        """A value of the one row of the comparison with these keys."""
        [found] = [row for row in self.rows if all(row[k] == v for k, v in keys.items())]
        return found[column]


def _typed(row: Mapping[str, str]) -> Row:
    """With numbers where the comparison has numbers."""
    return {
        name: (float(value) if value else None) if name in VALUES else value
        for name, value in row.items()
    }


def _card(card: Card) -> str:
    """A card as it stands on a page."""
    lines = ["| parameter | value | origin | why |", "| --- | --- | --- | --- |"]
    for p in card.parameters:
        name = f"{p.name} ({', '.join(p.sections)})" if p.sections else p.name
        lines.append(f"| {' | '.join(map(_cell, (name, p.value, p.origin, p.why)))} |")
    lines += ["", "| statements | origin | why |", "| --- | --- | --- |"]
    for c in card.criteria:
        lines.append(f"| {' | '.join(map(_cell, (', '.join(c.statements), c.origin, c.why)))} |")
    for change in card.changes:
        commit = f" ({change.commit})" if change.commit else ""
        lines += [
            "",
            f"- **{change.date}{commit}, {change.of}** ({', '.join(change.statements)}). Before: "
            f"{change.former}. Since: {change.now}. Why: {change.why}. Outcome before: "
            f"{change.outcome_former}. Outcome since: {change.outcome_now}.",
        ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(name: str) -> str:
    """The page of a reproduction, in Markdown."""
    folder = home(name)
    measured = Measured(paper(name), folder)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["n"] = number
    template = environment.from_string((folder / SOURCE).read_text(encoding="utf-8"))
    return template.render(
        about=measured.about,
        table=measured.table,
        statement=measured.statement,
        count=measured.count,
        cell=measured.cell,
        card=_card(measured.paper.card),
    )


def home(name: str) -> Path:
    """The folder of a reproduction."""
    folder = installed.folder(name)
    assert folder, name
    return folder


def written() -> list[str]:
    """The reproductions that have such a page."""
    return [name for name in installed.reproductions() if (home(name) / SOURCE).exists()]


if __name__ == "__main__":
    for asked in sys.argv[1:] or written():
        (home(asked) / PAGE).write_text(page(asked), encoding="utf-8")
