"""Tables as CSV: the only place that writes them, and reads them back.

Spreadsheets take a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, which may
start programs. Such a text is written with an apostrophe before it, which they take for the sign
of a text; numbers, also negative ones, and shares such as ``-5 %`` are written as they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import polars as pl

#: What begins a formula, after apostrophes of the text's own; the wide signs are those of Chinese,
#: Japanese and Korean keyboards. Read by Python and by Polars.
_FORMULA = "^'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s?%?)?$"
_GUARDED = "^'('*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])"
_is_formula, _is_number = re.compile(_FORMULA).match, re.compile(_NUMBER).match


def write(
    file: TextIO,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    header: bool = True,
) -> None:
    """Writes a table to a file that is open with ``newline=""``: these columns of the rows, and
    nothing for a value that a row lacks or that is ``None``.
    """
    lines = ([row.get(column) for column in columns] for row in rows)
    write_lines(file, [columns, *lines] if header else lines)


def write_lines(file: TextIO, lines: Iterable[Sequence[object]]) -> None:
    """Writes lines of cells, as :func:`write`."""
    writer = csv.writer(_Lines(file))
    writer.writerows([_cell(value) for value in line] for line in lines)


class _Lines:
    """Ends lines with a line feed. The writer is told otherwise, or it would leave a carriage
    return within a text unquoted.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(f"{line.removesuffix(csv.excel.lineterminator)}\n")


def read(lines: Iterable[str]) -> list[dict[str, str]]:
    """The rows of a file, open likewise, or of its lines: texts as they were before they were
    written.
    """
    cells = [list(map(_original, line)) for line in csv.reader(lines) if line]
    return [dict(zip(cells[0], row, strict=False)) for row in cells[1:]]


def of_frame(table: pl.DataFrame) -> str:
    """A data frame as CSV."""
    import polars as pl

    texts = pl.col(pl.String)
    formula = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    guarded = table.with_columns(pl.when(formula).then("'" + texts).otherwise(texts).name.keep())
    return guarded.rename(lambda name: str(_cell(name))).write_csv()


def to_frame(table: pl.DataFrame) -> pl.DataFrame:
    """What Polars has read of a file, with the texts that were written."""
    import polars as pl

    originals = table.with_columns(pl.col(pl.String).str.replace(_GUARDED, "${1}"))
    return originals.rename(_original)


def _cell(value: object) -> object:
    formula = isinstance(value, str) and _is_formula(value) and not _is_number(value)
    return f"'{value}" if formula else value


def _original(text: str) -> str:
    return re.sub(_GUARDED, r"\1", text)
