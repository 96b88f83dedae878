"""What is said on standard error, and standard output whose reader may leave."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


def warn(message: str) -> None:
    """Says something on standard error."""
    click.echo(f"sojourn: {message}", err=True)


@contextmanager
def printed() -> Iterator[None]:
    """Around what is printed: a reader that has left (``| head -1``) costs nothing else."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Keep the interpreter from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
