"""What to choose where one place of a figure would mix names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from sojourn.figures.plots import words
from sojourn.figures.plots.cells import axes_of, names_mixed
from sojourn.figures.plots.source import MEMBERS

#: So many values of an axis are named, and so many are tried.
_MOST = 6


def advice(rows: pl.DataFrame, chosen: Sequence[str], free: Sequence[str]) -> str:
    """What would be mixed at the places of the ``chosen`` axes, and what to add to the command so
    that nothing is: axes for its ``free`` options, or a value that is kept.
    """
    names = names_mixed(rows, chosen)
    told = [f"{len(of)} values of {axis} ({', '.join(of[:_MOST])})" for axis, of in names.items()]
    ways = list(_Search(rows, chosen, free, list(names)).ways())
    remedy = f"add {', or '.join(ways)}" if ways else "keep one value of each with --where"
    return f"one place of the figure would mix {words.listed(told)}; {remedy}"


@dataclass(frozen=True)
class _Search:
    """For additions that leave nothing mixed. Each is tried: none leads to the next refusal."""

    rows: pl.DataFrame
    chosen: Sequence[str]
    free: Sequence[str]
    names: Sequence[str]

    def ways(self) -> Iterator[str]:
        """The fewest axes that suffice, and the fewest that do where one value of another is kept:
        best of all points of the grid, else of some.
        """
        for axes in self._choices(least=1):
            if self._apart(self.rows, axes):
                yield self._written(axes)
                break
        for whole in (True, False):
            for axes in self._choices(least=0):
                if kept := list(self._kept(axes, whole)):
                    rest = f" (or {', '.join(kept[1:])})" if kept[1:] else ""
                    yield f"{self._written(axes)} --where {kept[0]}{rest}".lstrip()
                    return

    def _choices(self, least: int) -> Iterator[tuple[str, ...]]:
        """Axes for the free options, few first, and first those that are mixed."""
        for count in range(least, len(self.free) + 1):
            yield from combinations(self._others(self.chosen), count)

    def _others(self, chosen: Sequence[str]) -> list[str]:
        axes = [*self.names, *(axis for axis in axes_of(self.rows) if axis not in self.names)]
        return [axis for axis in axes if axis not in chosen and axis != "time"]

    def _kept(self, axes: Sequence[str], whole: bool) -> Iterator[str]:
        """Of each axis the first value that leaves nothing mixed if it alone is kept."""
        for axis in self._others([*self.chosen, *axes]):
            for value in self.rows[axis].drop_nulls().unique(maintain_order=True)[:_MOST]:
                rest = self.rows.filter(pl.col(axis) == value)
                if self._apart(rest, axes) and not (whole and self._loses_points(rest, axis)):
                    yield shlex.quote(f"{axis}={value}")
                    break

    def _loses_points(self, rest: pl.DataFrame, kept: str) -> bool:
        """Whether values of the grid are lost with those of the axis of which one is kept."""
        grid = [axis for axis in axes_of(rest) if axis not in (*MEMBERS, kept)]
        return any(rest[axis].n_unique() < self.rows[axis].n_unique() for axis in grid)

    def _apart(self, rows: pl.DataFrame, axes: Sequence[str]) -> bool:
        return not names_mixed(rows, [*self.chosen, *axes])

    def _written(self, axes: Sequence[str]) -> str:
        return " ".join(f"{o} {axis}" for o, axis in zip(self.free, axes, strict=False))
