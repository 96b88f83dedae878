"""Parts, times and sizes as a person reads and writes them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sojourn import literal

if TYPE_CHECKING:
    from click import Context, Parameter

    _Pair = click.ParamType[tuple[int, int]]
    _Number = click.ParamType[int]
    _Seconds = click.ParamType[float]
    _Numbers = click.ParamType[tuple[int, ...]]
    _Place = click.ParamType[Path]
else:  # Older versions of click do not say what a type makes.
    _Pair = _Number = _Seconds = _Numbers = _Place = click.ParamType


class Shard(_Pair):
    """Which of how many parts, such as ``2/3``."""

    name = "I/N"

    def convert(
        self, value: object, param: Parameter | None, ctx: Context | None
    ) -> tuple[int, int]:
        """Reads it."""
        part, slash, parts = str(value).partition("/")
        if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
            self.fail(
                f"{literal.given(value)} given; expected I/N with I from 1 to N, such as 2/3",
                param,
                ctx,
            )
        return int(part), int(parts)


class Size(_Number):
    """A number of bytes, such as ``8 GB``."""

    name = "SIZE"

    def convert(self, value: object, param: Parameter | None, ctx: Context | None) -> int:
        """Reads it."""
        from sojourn.quantity import number

        read = number(str(value))
        if not (str(value).rstrip().endswith("B") and read >= 1):
            self.fail(
                f"{literal.given(value)} given; expected a size such as 8 GB or 500 MB", param, ctx
            )
        return int(read)


class Time(_Seconds):
    """A time in seconds, such as ``10 us``."""

    name = "TIME"

    def convert(self, value: object, param: Parameter | None, ctx: Context | None) -> float:
        """Reads it."""
        from sojourn.quantity import number

        read = number(str(value))
        if not (str(value).rstrip().endswith("s") and read >= 0):
            self.fail(
                f"{literal.given(value)} given; expected a time such as 10 us or 1 ms", param, ctx
            )
        return read


class Sizes(_Numbers):
    """Ends of bins of sizes, such as ``10 kB,100 kB,1 MB``."""

    name = "SIZES"

    def convert(
        self, value: object, param: Parameter | None, ctx: Context | None
    ) -> tuple[int, ...]:
        """Reads them."""
        ends = tuple(Size().convert(text, param, ctx) for text in str(value).split(","))
        if len(ends) < 2 or any(above <= below for below, above in pairwise(ends)):
            self.fail(
                f"{literal.given(value)} given; expected two or more rising sizes, such as "
                "10 kB,100 kB,1 MB",
                param,
                ctx,
            )
        return ends


class Location(_Place):
    """A directory, here or on an object store."""

    name = "DIR"

    def convert(self, value: object, param: Parameter | None, ctx: Context | None) -> Path:
        """Finds it; nothing is looked at."""
        if "://" not in str(value):
            return Path(str(value))
        from sojourn.store.location import located

        return located(str(value))

    def shell_complete(
        self, ctx: Context, param: Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leaves it to the shell, which knows directories."""
        return [CompletionItem(incomplete, type="dir")]


def duration(seconds: float) -> str:
    """A time to two digits."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{_two_digits(seconds / length)} {unit}"
    return f"{_two_digits(seconds)} s"


def size(count: float) -> str:
    """A number of bytes to two digits."""
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= length:
            return f"{_two_digits(count / length)} {unit}"
    return f"{count:.0f} B"


def _two_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
