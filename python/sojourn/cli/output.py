"""Lines for a person on standard output and standard error, and a reader who may leave."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from shutil import get_terminal_size
from textwrap import fill
from typing import TextIO

import click

from sojourn.literal import printable


def say(text: str, *, err: bool = False) -> None:
    """Prints lines, which a terminal gets broken between words; what it would act on is escaped."""
    with printed():
        click.echo(_folded(printable(text), sys.stderr if err else sys.stdout), err=err)


def give(data: str, *, nl: bool = True) -> None:
    """Prints what programs read: as it is, but for what a terminal would act on."""
    with printed():
        click.echo(printable(data) if sys.stdout.isatty() else data, nl=nl)


def warn(message: str) -> None:
    """Says something on standard error."""
    say(f"sojourn: {message}", err=True)


def refuse(error: click.ClickException) -> None:
    """Says what is wrong with a command line."""
    error.show(told := StringIO())
    say(told.getvalue().rstrip(), err=True)


def _folded(text: str, stream: TextIO) -> str:
    """As wide as the terminal; what has no room in a line, such as a path, is left whole."""
    if not stream.isatty():
        return text
    width = get_terminal_size().columns
    return "\n".join(_filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    """What follows of an item of a list stands in further than its first line."""
    indent = line[: len(line) - len(line.lstrip())]
    below = f"{indent}  " if indent else ""
    return fill(
        line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
    )


@contextmanager
def printed() -> Iterator[None]:
    """Around what is printed: a reader that has left (``| head -1``, ``2>&1 | head -1``) costs
    nothing else.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        left = [stream for stream in (sys.stdout, sys.stderr) if _has_left(stream)]
        if not left:  # it was no reader of these
            raise
        for stream in left:
            _forget(stream)


def _has_left(stream: TextIO) -> bool:
    """Whether nobody reads a stream any more."""
    polled = select.poll()
    polled.register(stream.fileno(), 0)
    return bool(polled.poll(0))


def _forget(stream: TextIO) -> None:
    """What is still written to a stream goes nowhere; the interpreter flushes it at exit, too."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
