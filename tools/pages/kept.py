"""What a page of ``docs/explanation/`` rests on, in the folder of its name: tables of what was
measured for it, ``about.toml``, which says by what command, when and of which build, and for some
its text, ``page.md.j2``. The page is rendered from these, without a run.
"""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from sojourn import data
from sojourn.build import engine
from tools.pages.reproduction import ABOUT, environment

TEXT = "page.md.j2"
#: The only table of a folder within a page's, for what has a command of its own.
TABLE = "table"
#: A row of such a table as it is measured, and as it is read.
Measured = Mapping[str, str | float | None]
Row = Mapping[str, str]


def docs() -> Path:
    """The directory of the documentation."""
    return data.checkout() / "docs"


def explanation() -> Path:
    """The directory of the pages that are rendered."""
    return docs() / "explanation"


def store(name: str, command: str, tables: Mapping[str, Sequence[Measured]]) -> None:
    """Writes the tables of a page, ``NAME.csv`` each, and by what they were measured."""
    folder = explanation() / name
    folder.mkdir(exist_ok=True)
    for table, rows in tables.items():
        write(folder / f"{table}.csv", rows)
    tell(folder, command)


def tell(folder: Path, command: str, **more: int) -> None:
    """Says by what command, when and of which build the tables of a folder were measured."""
    about = {"command": json.dumps(command), "date": date.today(), "build": json.dumps(engine())}
    lines = [f"{key} = {value}\n" for key, value in {**about, **more}.items()]
    (folder / ABOUT).write_text("".join(lines), encoding="utf-8")


def write(path: Path, rows: Sequence[Measured]) -> None:
    """Writes rows, numbers with nine digits, which no page shows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_cell(value) for value in row.values()] for row in rows)


def _cell(value: str | float | None) -> str | int | None:
    return f"{value:.9g}" if isinstance(value, float) else value


def rows(name: str, table: str) -> list[Row]:
    """A table of a page, as it is stored."""
    return read(explanation() / name / f"{table}.csv")


def read(path: Path) -> list[Row]:
    """The rows of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def one(rows: Iterable[Row], **keys: str) -> Row:
    """The only row with these keys.

    Raises:
        ValueError: if there is none, or another.

    """
    [found] = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    return found


def stamp(name: str) -> str:
    """The command that measured a page's tables, and the day."""
    about = tomllib.loads((explanation() / name / ABOUT).read_text(encoding="utf-8"))
    return f"(`{about['command']}`, {about['date']})"


def render(name: str, **values: Any) -> str:
    """The text of a page with these values; a name that it lacks is an error."""
    template = environment(explanation() / name).get_template(TEXT)
    return template.render(**values)


def put(name: str, text: str) -> None:
    """Writes a page."""
    (explanation() / f"{name}.md").write_text(text, encoding="utf-8")
