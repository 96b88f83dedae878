"""Runs a suite with each control, and gathers what is judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from sojourn.errors import ScenarioError
from sojourn.evaluation.suites.experiment import TESTED, Experiment, Measure, Suite, with_control
from sojourn.executors import Executor, threads
from sojourn.external.written import is_file, of_file
from sojourn.json_types import Json
from sojourn.metrics.columns import Values
from sojourn.names import unknown
from sojourn.scenario import Scenario, parse_value
from sojourn.store import manifest
from sojourn.store.batches import Batches, Warn
from sojourn.store.layout import clear
from sojourn.store.rows import coordinate_paths
from sojourn.sweeps import run, table
from sojourn.sweeps.axes import axes
from sojourn.sweeps.directory import edits, is_on
from sojourn.sweeps.expand import Plan, plan
from sojourn.sweeps.known import count

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Request:
    """What is evaluated: controls as a person writes them."""

    suite: Suite
    controls: Sequence[str]
    against: Sequence[str]
    quick: bool = False
    experiments: Sequence[str] = ()
    #: What runs it.
    backend: str = "sim"

    @property
    def every(self) -> list[str]:
        """All controls that run, each once."""
        return list(dict.fromkeys((*self.controls, *self.against)))

    def chosen(self) -> list[Experiment]:
        """The experiments that are asked for: all by default."""
        every = self.suite.experiments
        names = [experiment.name for experiment in every]
        for name in self.experiments:
            if name not in names:
                raise ScenarioError(f"--experiment: {unknown('experiment', name, names)}")
        return [e for e in every if not self.experiments or e.name in self.experiments]


@dataclass
class Place:
    """One point of one experiment: of each measure and control the values by replication."""

    experiment: Experiment
    point: str
    #: How many of the flows are under test, as a share of all.
    tested: float = 1.0
    values: dict[Measure, dict[str, Values]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Sweep:
    """One control in one case of an experiment."""

    experiment: Experiment
    path: str
    control: str
    scenario: Scenario
    directory: Path

    @property
    def grid(self) -> list[str]:
        return list(axes(self.scenario.sweep or {}))

    @property
    def replications(self) -> int:
        return int((self.scenario.sweep or {}).get("replications", 1))


def evaluate(
    request: Request,
    directory: Path,
    jobs: int,
    progress: Progress,
    warn: Warn,
    execute: Executor = threads.execute,
) -> list[Place]:
    """Runs what is not stored; every point with its values."""
    controls = {text: _control(text, request.suite) for text in request.every}
    work = [
        (one, _planned(one, controls[one.control], request.backend))
        for one in _sweeps(request, directory)
    ]
    total, done = sum(len(wanted) for _, wanted in work), 0
    places: dict[tuple[str, str], Place] = {}
    try:
        for one, wanted in work:
            before = done
            _clear_others(one, wanted, warn)

            def told(now: int, _: int, before: int = before) -> None:
                progress(before + now, total)

            run.sweep(
                wanted,
                one.directory,
                jobs,
                progress=told,
                warn=warn,
                keep_samples=False,
                execute=execute,
            )
            done += len(wanted)
            _gather(one, places, warn)
    except KeyboardInterrupt:
        progress(sum(count(p.places(), Batches(one.directory, warn)) for one, p in work), total)
        raise
    return list(places.values())


def stored(request: Request, directory: Path, warn: Warn) -> list[Place]:
    """Every point of a directory with its values; runs nothing, no control's code either."""
    places: dict[tuple[str, str], Place] = {}
    for one in _sweeps(request, directory):
        _gather(one, places, warn)
    return list(places.values())


def _sweeps(request: Request, directory: Path) -> list[_Sweep]:
    return [
        _Sweep(
            experiment,
            path,
            text,
            scenario,
            directory / "sweeps" / experiment.name / _folder(path) / _folder(text),
        )
        for experiment in request.chosen()
        for path, scenario in experiment.cases(quick=request.quick)
        for text in request.every
    ]


def _planned(one: _Sweep, control: Json, backend: str) -> Plan:
    """What a control runs in a case.

    Raises:
        ScenarioError: if the backend does not have what it takes.

    """
    try:
        return plan(with_control(one.scenario, control), backend)
    except ScenarioError as error:
        where = f"CCA {one.control}: experiment {one.experiment.name}, {one.path}"
        raise ScenarioError(f"{where}: {error}") from None


def _clear_others(one: _Sweep, wanted: Plan, warn: Warn) -> None:
    """Removes what another backend has given, whose directory is replaced, or a control's file
    before it was edited.
    """
    if not (one.directory / manifest.FILE).exists():
        return
    found = manifest.read(one.directory)
    if not is_on(found, wanted):
        clear(one.directory)
    elif edits(found, wanted.sources):
        warn(f"{one.control} has been edited: {one.experiment.name}, {one.path} is run again")
        clear(one.directory)


def _control(text: str, suite: Suite) -> Json:
    """A name, a table as TOML writes it, or a control's file; refused where the first experiment
    refuses it.
    """
    control = of_file(text) if is_file(text) else parse_value("CCA", text)
    _, scenario = next(suite.experiments[0].cases(quick=True))
    try:
        with_control(scenario, control)
    except ScenarioError as error:
        raise ScenarioError(f"CCA {text}: {error}") from None
    return control


def _folder(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-")


def _gather(job: _Sweep, places: dict[tuple[str, str], Place], warn: Warn) -> None:
    for point, error in table.failures(job.directory)[:1]:
        warn(f"{job.experiment.name}, {job.path}, {job.control}: {point}: {error}")
    rows = table.ask(job.directory, lambda rows: rows.filter(pl.col("scope") != "run").collect())
    if rows is None or not len(rows):
        return
    paths = [path for path in job.grid if path in coordinate_paths(rows.schema)]
    for coordinates, of in rows.group_by(paths or pl.lit(""), maintain_order=True):
        point = _point(job, dict(zip(paths, coordinates, strict=False)))
        labels = of.filter(pl.col("scope") == "flow")["label"].to_list()
        tested = labels.count(TESTED) / len(labels)
        place = places.setdefault(
            (job.experiment.name, point), Place(job.experiment, point, tested)
        )
        for measure in job.experiment.measures:
            values = _values(of, measure, job.replications)
            place.values.setdefault(measure, {})[job.control] = values


def _point(job: _Sweep, coordinates: Mapping[str, object]) -> str:
    """The path, or the values of the grid."""
    told = [f"{table.short(axis, job.grid)} = {v}" for axis, v in coordinates.items()]
    return ", ".join([job.path] * job.experiment.has_parts + told) or "default"


def _values(rows: pl.DataFrame, measure: Measure, replications: int) -> Values:
    """By replication, NaN where undefined; of flows and groups those under test, and of harm the
    groups that suffer it.
    """
    scope, name = measure
    mine = rows.filter(pl.col("scope") == scope)
    if scope == "flow":
        mine = mine.filter(pl.col("label") == TESTED)
    if scope == "group":
        tested = pl.col("id") == f"label:{TESTED}"
        others = pl.col("id").str.starts_with("label:") & ~tested
        mine = mine.filter(others if name.startswith("group_harm_") else tested)
    means = mine.group_by("replication").agg(pl.col(name).cast(pl.Float64).mean())
    values = np.full(replications, np.nan)
    values[means["replication"].to_numpy()] = means[name].fill_null(np.nan).to_numpy()
    return values
