"""Tables of a reproduction, on disk as CSV and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sojourn import csv_table
from sojourn.json_types import Scalar
from sojourn.numbers import number
from sojourn.store.files import write_atomically


@dataclass(frozen=True)
class Sheet:
    """A table: the first ``words`` columns are text, the others numbers or text."""

    #: Names its files.
    name: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Scalar]]
    words: int = 1


def write(sheets: Iterable[Sheet], directory: Path) -> None:
    """Writes ``NAME.csv`` and ``NAME.md`` of each sheet."""
    for sheet in sheets:
        write_atomically(directory / f"{sheet.name}.csv", partial(_csv, sheet))
        write_atomically(directory / f"{sheet.name}.md", partial(_markdown, sheet))


def _csv(sheet: Sheet, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv_table.write_lines(file, [sheet.header, *sheet.rows])


def markdown(sheet: Sheet) -> str:
    """The sheet in Markdown, numbers as on the screen."""
    rule = ["---" if i < sheet.words else "---:" for i in range(len(sheet.header))]
    cells = [[c if isinstance(c, str) else number(c) for c in row] for row in sheet.rows]
    lines = ("| " + " | ".join(row) + " |" for row in (sheet.header, rule, *cells))
    return f"**{sheet.title}**\n\n" + "\n".join(lines) + "\n"


def _markdown(sheet: Sheet, path: Path) -> None:
    path.write_text(markdown(sheet), encoding="utf-8")
