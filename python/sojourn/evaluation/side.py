"""One side of a comparison: a run, a sweep or a folder of sweeps as rows of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sojourn.errors import ScenarioError, SojournError
from sojourn.evaluation.programs import Told, programs_of
from sojourn.figures.flows import MOST_FLOWS
from sojourn.measured import Measured
from sojourn.metrics import metrics
from sojourn.origin import SIMULATED, ran_on
from sojourn.store import manifest, rows, run_directory
from sojourn.store.location import located
from sojourn.store.renew import outcome
from sojourn.sweeps import directory as sweep_directory
from sojourn.sweeps import table
from sojourn.sweeps.stored import StoredSweep

#: What may be compared: a directory, or what it has been read as.
Source = str | Path | Measured | StoredSweep
_OWN = ("point", "seed", "pilot", "scope", "id")


@dataclass(frozen=True)
class Side:
    """The values of every metric."""

    name: str
    #: Point (readable), seed, whether the run was of the pilot that said how many there are (null
    #: if nothing did), scope, id, and every metric.
    values: pl.DataFrame
    #: Of each run that failed, its point and error.
    failures: Sequence[tuple[str, str]] = ()
    #: What its runs were made on, each once.
    on: Sequence[str] = (SIMULATED,)
    #: The programs of its scenarios, as far as manifests tell.
    programs: Told = field(default_factory=dict)

    @property
    def points(self) -> list[str]:
        """Those with results, in the order of the grid as far as that is known."""
        return self.values["point"].unique(maintain_order=True).to_list()


def read(source: Source) -> Side:
    """What a directory holds, or what has been read already."""
    if isinstance(source, Measured):
        return _of_run(source, source.scenario.name)
    path = source.directory if isinstance(source, StoredSweep) else located(str(source))
    if (path / manifest.FILE).exists() or not path.is_dir():
        return _of_directory(path)
    members = sorted(child.parent for child in path.glob(f"*/{manifest.FILE}"))
    if not members:
        raise ScenarioError(
            f"{path}: holds no results; expected a run's or a sweep's directory, or one of those"
        )
    return _together(path.name, [_of_directory(member) for member in members])


def _together(name: str, sides: Sequence[Side]) -> Side:
    """Points are named after their directory too."""
    parts = [
        side.values.with_columns(
            point=pl.concat_str(pl.lit(side.name), "point", separator=" ").str.strip_chars()
        )
        for side in sides
    ]
    failed = [(f"{s.name} {point}".strip(), error) for s in sides for point, error in s.failures]
    on = list(dict.fromkeys(told for side in sides for told in side.on))
    every = {f"{side.name} {place}": had for side in sides for place, had in side.programs.items()}
    return Side(name, pl.concat(parts, how="diagonal_relaxed"), failed, on, every)


def _of_directory(path: Path) -> Side:
    kind = manifest.read(path)["kind"]
    if kind == run_directory.KIND:
        return _of_run(run_directory.load(path), path.name)
    if kind == sweep_directory.KIND:
        return _of_sweep(path)
    raise ScenarioError(f"{path}: holds a {kind}; only runs and sweeps can be compared")


def _of_run(result: Measured, name: str) -> Side:
    common: rows.Row = {"seed": result.scenario.seed, "point": "", "replication": 0}
    made = rows.frame(rows.rows_of(common, {}, outcome(result.data)))
    values = _chosen(made.with_columns(pilot=pl.lit(None, pl.Boolean)))
    ran = [[one] for one in result.programs.programs] if result.programs else []
    return Side(name, values, on=[ran_on(result.origin)], programs=programs_of(ran))


def _of_sweep(path: Path) -> Side:
    stored = table.ask(path, lambda found: found.collect())
    if stored is None or not len(stored):
        raise SojournError(f"{path}: no run is stored by the build of Sojourn that ran it last")
    content = manifest.read(path)
    grid, stopped = content["grid"], content.get("until") is not None
    pilot = pl.col("replication") < content["replications"] if stopped else pl.lit(None, pl.Boolean)
    paths = [p for p in rows.coordinate_paths(stored.schema) if p in grid]
    places = [table.rank(p, grid[p]) for p in paths]
    named = [pl.format(f"{table.short(p, paths)} = {{}}", p) for p in paths]
    point = pl.concat_str(named, separator=", ") if named else pl.lit("")
    told = (
        stored.with_columns(point=point, pilot=pilot)
        .drop_nulls("point")
        .sort(*places, "replication", maintain_order=True)
    )
    failed = told.filter(pl.col("scope") == "run").select("point", "error").rows()
    had, on = programs_of(content.get("programs", ())), ran_on(content.get("origin") or {})
    return Side(path.name, _chosen(told), failed, [on], had)


def _chosen(told: pl.DataFrame) -> pl.DataFrame:
    """The rows of what is compared: groups stand for many flows, and for few each itself."""
    flows = told.filter(pl.col("scope") == "flow").select(pl.col("id").n_unique()).item()
    scopes = ["flow" if flows <= MOST_FLOWS else "group", "link", "net", "transfer"]
    names = list(dict.fromkeys(m.name for m in metrics() if m.name in told.columns))
    kept = told.filter(pl.col("scope").is_in(scopes)).select(*_OWN, *names)
    return kept.with_columns(pl.col(names).cast(pl.Float64))
