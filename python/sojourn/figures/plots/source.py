"""Rows of a result directory: one per run and member, with metrics as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sojourn.errors import SojournError
from sojourn.measured import Measured
from sojourn.metrics.transfer_view import sizes_text
from sojourn.origin import Origin
from sojourn.store import manifest, run_directory
from sojourn.store.rows import COMMON, coordinate_paths, frame, rows_of
from sojourn.sweeps import directory as sweep_directory
from sojourn.sweeps import table

#: Columns that say whose a row is; beside the grid's paths, what a figure may have as axes.
MEMBERS = ("flow", "cca", "label", "link", "group", "sizes")
#: What ``sizes`` says of rows that are not of a bin.
ALL_SIZES = "all"
_ID = {"flow": "flow", "link": "link", "group": "group"}


@dataclass(frozen=True)
class Source:
    """A run's or a sweep's rows."""

    directory: Path
    rows: pl.DataFrame
    #: The field paths that the grid varies.
    paths: Sequence[str]
    #: The run if it is a single one, whose samples are its distribution.
    run: Measured | None = None
    #: Of a sweep with a rule, how many replications said how many there are.
    pilot: int | None = None
    #: What made its runs; empty of the simulator's.
    origin: Origin = field(default_factory=Origin)

    def of_scope(self, scope: str) -> pl.DataFrame:
        """The rows of one scope; who they are of is in the columns of :data:`MEMBERS`."""
        rows = self.rows.filter(pl.col("scope") == scope)
        if scope == "transfer":
            return rows.with_columns(sizes=pl.struct("size_low", "size_high").map_elements(_sizes))
        column = _ID.get(scope)
        return rows.rename({"id": column}) if column else rows


def _sizes(ends: dict[str, int | None]) -> str:
    low, high = ends["size_low"], ends["size_high"]
    return ALL_SIZES if low is None or high is None else sizes_text((low, high))


def read(directory: Path) -> Source:
    """The rows of a run's or a sweep's directory.

    Raises:
        SojournError: if it holds something else, or no run that has succeeded.

    """
    content = manifest.read(directory)
    kind = content["kind"]
    if kind == run_directory.KIND:
        run = run_directory.load(directory)
        common = dict.fromkeys(COMMON) | {"key": "", "replication": 0}
        rows = frame(rows_of(common, {}, run.to_json()))
        return Source(directory, rows, [], run=run, origin=run.origin)
    if kind != sweep_directory.KIND:
        raise SojournError(f"{directory}: holds a {kind}; figures are made of runs and of sweeps")
    stored = table.ask(directory, lambda rows: rows.filter(pl.col("scope") != "run").collect())
    if stored is None or not len(stored):
        raise SojournError(f"{directory}: no run of it has succeeded")
    paths = coordinate_paths(stored.schema)
    places = [table.rank(path, content["grid"][path]) for path in paths if path in content["grid"]]
    pilot = content["replications"] if content.get("until") else None
    ordered = stored.sort(*places, "replication", maintain_order=True)
    origin: Origin = content.get("origin") or {}
    return Source(directory, ordered, paths, pilot=pilot, origin=origin)
