"""Tables on the screen, as wide as that, or as wide as they are; and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from sojourn import csv_table
from sojourn.cli.output import give, say
from sojourn.literal import printable
from sojourn.numbers import number

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "say", "show", "write_csv"]

#: Where the output is no terminal, nothing is wrapped.
_ENDLESS = 100_000
_PADDING = 2


def show(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], words: int = 1
) -> None:
    """Prints a table; the first ``words`` columns are text, the others numbers: those that the
    screen has no room for follow below.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    cells = [[printable(c) if isinstance(c, str) else number(c) for c in row] for row in rows]
    columns = list(zip(map(printable, header), *cells, strict=True))
    screen = console()
    if title:
        say(title)
    if not cells:
        screen.print()
        return
    for chosen in _parts(columns, words, screen.width):
        table = Table(
            box=SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
            padding=(0, 1, 0, 0),
        )
        for index, width in zip(chosen, _widths(columns, chosen, words, screen.width), strict=True):
            head = Text(columns[index][0], justify="right" if index >= words else "left")
            table.add_column(head, width=width)
        for row in cells:
            table.add_row(
                *(
                    Text(row[index], justify="right" if index >= words else "left")
                    for index in chosen
                )
            )
        screen.print(table)
        screen.print()


def console() -> Console:
    """Standard output."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # as any other output; rich would end the process

    screen = Screen(highlight=False)
    if not screen.is_terminal:
        screen.width = _ENDLESS
    return screen


def _parts(columns: Sequence[Sequence[str]], words: int, width: int) -> Iterator[list[int]]:
    """Columns that fit side by side, those of text at the left of each part."""
    left = list(range(words))
    taken = sum(_longest_word(columns[i]) + _PADDING for i in left[1:])
    taken += max(map(len, columns[0])) if left else 0
    part: list[int] = []
    room = width - taken
    for index in range(words, len(columns)):
        needed = _width(columns[index]) + _PADDING
        if part and needed > room:
            yield [*left, *part]
            part, room = [], width - taken
        part.append(index)
        room -= needed
    yield [*left, *part]


def _widths(
    columns: Sequence[Sequence[str]], chosen: Sequence[int], words: int, screen: int
) -> list[int]:
    """Of the chosen columns; text beyond the first column gives way, down to its longest word."""
    widths = [
        max(map(len, columns[index])) if index < words else _width(columns[index])
        for index in chosen
    ]
    for place, index in list(enumerate(chosen))[1:words]:
        excess = sum(width + _PADDING for width in widths) - screen
        if excess > 0:
            widths[place] = max(_longest_word(columns[index]), widths[place] - excess)
    return widths


def _width(column: Sequence[str]) -> int:
    """That of a column of numbers: its head has two lines at most."""
    head, *cells = column
    words = head.split()
    halves = (max(len(" ".join(words[:i])), len(" ".join(words[i:]))) for i in range(len(words)))
    return max(min(halves, default=0), *map(len, cells), 0)


def _longest_word(column: Sequence[str]) -> int:
    return max((len(word) for cell in column for word in cell.split()), default=0)


def write_csv(header: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Prints CSV; undefined values are empty."""
    csv_table.write(text := StringIO(newline=""), header, rows)
    give(text.getvalue(), nl=False)
