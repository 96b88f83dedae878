"""Rows of result directories: one per run and member, with metrics as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

import polars as pl

from sojourn.errors import SojournError
from sojourn.figures.plots import fields
from sojourn.measured import Measured
from sojourn.metrics.transfer_view import sizes_text
from sojourn.origin import Origin, ran_on
from sojourn.quantity import split
from sojourn.scenario import Document
from sojourn.store import manifest, run_directory
from sojourn.store.rows import COMMON, coordinate_paths, frame, rows_of
from sojourn.sweeps import directory as sweep_directory
from sojourn.sweeps import table

#: Columns that say whose a row is; beside the fields of scenarios, what a figure may have as axes.
MEMBERS = ("flow", "cca", "label", "link", "group", "sizes", "result")
#: What ``sizes`` says of rows that are not of a bin.
ALL_SIZES = "all"
_ID = {"flow": "flow", "link": "link", "group": "group"}


@dataclass(frozen=True)
class Stored:
    """The rows of one result directory."""

    directory: Path
    rows: pl.DataFrame
    #: The field paths that the grid varies.
    paths: Sequence[str] = ()
    #: The scenario as it was written.
    document: Document = field(default_factory=dict)
    #: What the values of its grid stand for that have a label.
    labels: fields.Labels = field(default_factory=dict)
    #: The run if it is a single one, whose samples are its distribution.
    run: Measured | None = None
    #: Of a sweep with a rule, how many replications said how many there are.
    pilot: int | None = None
    #: What made its runs; empty of the simulator's.
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True)
class Source:
    """The rows of one result or of several, which ``result`` tells apart."""

    #: By what they are called.
    results: Mapping[str, Stored]
    rows: pl.DataFrame
    #: The fields of scenarios that are columns: texts.
    paths: Sequence[str]

    @classmethod
    def of(cls, results: Sequence[Stored], axes: Iterable[str] = ()) -> Source:
        """Joins results. A field that one of them varies, or that is one of the ``axes``, is a
        column of all: where a grid does not say what it is, the scenario does.
        """
        named = dict(zip(_names(results), results, strict=True))
        paths = dict.fromkeys(path for one in results for path in one.paths)
        taken = {*MEMBERS, *(column for one in results for column in one.rows.columns)}
        asked = [axis for axis in dict.fromkeys(axes) if axis not in taken]
        parts = [
            _with_fields(one, [*paths, *asked]).with_columns(
                result=pl.lit(name), pilot=pl.lit(one.pilot, pl.Int64)
            )
            for name, one in named.items()
        ]
        rows = pl.concat(parts, how="diagonal_relaxed")
        # An axis that no scenario has is not there.
        columns = [path for path in (*paths, *asked) if path in paths or rows[path].count()]
        rows = rows.drop(path for path in asked if path not in columns)
        return cls(named, rows.with_columns(_alike(rows[path]) for path in columns), columns)

    @property
    def name(self) -> str:
        """Which results these are."""
        return ", ".join(str(one.directory) for one in self.results.values())

    @property
    def keys(self) -> list[str]:
        """The columns that tell a run from others."""
        return ["key", "replication", "pilot", *self.paths, "result"]

    @property
    def runs(self) -> bool:
        """Whether these are single runs, which have samples and no replications."""
        return all(one.run is not None for one in self.results.values())

    def of_scope(self, scope: str) -> pl.DataFrame:
        """The rows of one scope; who they are of is in the columns of :data:`MEMBERS`."""
        rows = self.rows.filter(pl.col("scope") == scope)
        if scope == "transfer":
            return rows.with_columns(sizes=pl.struct("size_low", "size_high").map_elements(_sizes))
        column = _ID.get(scope)
        return rows.rename({"id": column}) if column else rows

    def ran_on(self) -> str:
        """What made the runs, as a sentence; nothing of the simulator alone."""
        told = {name: ran_on(one.origin) for name, one in self.results.items()}
        if not any(one.origin for one in self.results.values()):
            return ""
        if len(set(told.values())) == 1:
            return f"Run {next(iter(told.values()))}."
        return "; ".join(f"{name} run {where}" for name, where in told.items()) + "."


def _sizes(ends: dict[str, int | None]) -> str:
    low, high = ends["size_low"], ends["size_high"]
    return ALL_SIZES if low is None or high is None else sizes_text((low, high))


def _names(results: Sequence[Stored]) -> list[str]:
    """Names of directories, or all of their paths where two have the same name."""
    short = [one.directory.name for one in results]
    return short if len(set(short)) == len(short) else [str(one.directory) for one in results]


def _with_fields(one: Stored, paths: Sequence[str]) -> pl.DataFrame:
    """The rows with those of the fields as columns that its grid does not have."""
    rows = one.rows
    for path in paths:
        if path not in one.paths:
            rows = fields.with_field(rows, path, one.document, one.paths, one.labels)
    return rows


def _alike(column: pl.Series) -> pl.Series:
    """One text for each quantity, however results write it: ``20 ms``, not ``0.02 s`` as well."""
    texts: dict[object, str] = {}
    first = {}
    for text in column.drop_nulls().unique(maintain_order=True):
        value, unit = split(text)
        first[text] = texts.setdefault(text if isnan(value) else (f"{value:.9g}", unit), text)
    return column.replace(first)


def read(directories: Sequence[Path], axes: Iterable[str] = ()) -> Source:
    """The rows of runs' and sweeps' directories, with the ``axes`` that are fields.

    Raises:
        SojournError: if one holds something else, or no run that has succeeded.

    """
    return Source.of([stored(directory) for directory in directories], axes)


def stored(directory: Path) -> Stored:
    """The rows of one of them."""
    content = manifest.read(directory)
    kind = content["kind"]
    if kind == run_directory.KIND:
        run = run_directory.load(directory)
        common = dict.fromkeys(COMMON) | {"key": "", "replication": 0}
        rows = frame(rows_of(common, {}, run.to_json()))
        document = run.scenario.document
        return Stored(directory, rows, document=document, run=run, origin=run.origin)
    if kind != sweep_directory.KIND:
        raise SojournError(f"{directory}: holds a {kind}; figures are made of runs and of sweeps")
    found = table.ask(directory, lambda rows: rows.filter(pl.col("scope") != "run").collect())
    if found is None or not len(found):
        raise SojournError(f"{directory}: no run of it has succeeded")
    paths = coordinate_paths(found.schema)
    places = [table.rank(path, content["grid"][path]) for path in paths if path in content["grid"]]
    pilot = content["replications"] if content.get("until") else None
    ordered = found.sort(*places, "replication", maintain_order=True)
    origin: Origin = content.get("origin") or {}
    labels = content.get("labels", {})
    return Stored(
        directory, ordered, paths, content["document"], labels, pilot=pilot, origin=origin
    )
