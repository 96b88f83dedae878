"""Tables on the screen, at most 100 columns wide, and CSV."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from sojourn.numbers import number

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 100


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 1) -> None:
    """Prints a table; the first ``words`` columns are text, the others numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(header):
        right = index >= words
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(c if isinstance(c, str) else number(c) for c in row))
    console().print(table)


def console() -> Console:
    """Standard output, at most 100 columns wide."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # as any other output; rich would end the process

    screen = Screen(highlight=False)
    screen.width = min(WIDTH, screen.width) if screen.is_terminal else WIDTH
    return screen


def write_csv(
    header: Sequence[str], rows: Iterable[Mapping[str, Any]], file: TextIO | None = None
) -> None:
    """Writes CSV to standard output or a file; undefined values are empty."""
    writer = csv.DictWriter(file or sys.stdout, header, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
