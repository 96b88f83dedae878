"""``sojourn new``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.names import Name
from sojourn.cli.output import say
from sojourn.errors import SojournError
from sojourn.names import either
from sojourn.scaffold import KINDS, new


@click.command("new", epilog=f"KIND: {either(KINDS)}.")
@click.argument("kind", type=Name("kind", tuple(KINDS)), metavar="KIND")
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice(("rust", "python", "c")),
    help="What it is written in; by default, what the kind is written in.",
)
def command(kind: str, name: str, language: str | None) -> None:
    """Write the file of a new KIND called NAME, and the lines that make it known."""
    made = new(kind, name, language, _checkout(), Path())
    for path in made.written:
        say(f"wrote {path}")
    for path in made.changed:
        say(f"added a line to {path}")
    say(f"next: {made.after}")


def _checkout() -> Path | None:
    from sojourn import data

    try:
        return data.checkout()
    except SojournError:
        return None
