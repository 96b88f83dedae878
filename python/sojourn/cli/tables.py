"""Tables on the screen, at most 100 columns wide, and CSV."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sojourn.numbers import number

WIDTH = 100


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], words: int = 1) -> None:
    """Prints a table; the first ``words`` columns are text, the others numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(header):
        right = index >= words
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(c if isinstance(c, str) else number(c) for c in row))
    console = Console(highlight=False)
    console.width = min(WIDTH, console.width) if console.is_terminal else WIDTH
    console.print(table)


def write_csv(header: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Prints CSV; undefined values are empty."""
    writer = csv.DictWriter(sys.stdout, header, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
