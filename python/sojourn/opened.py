"""Sweeps from Python: run one, open what is stored."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from sojourn import backends
from sojourn.errors import ScenarioError, SojournError
from sojourn.executors.addresses import of_client
from sojourn.fidelity import directory as fidelity
from sojourn.notebook import describe_sweep
from sojourn.result import Result
from sojourn.scenario import Scenario, Source, load
from sojourn.store import manifest, run_directory
from sojourn.store.location import located
from sojourn.store.place import PYTHON, claimed
from sojourn.sweeps import directory as place
from sojourn.sweeps import run, table
from sojourn.sweeps.expand import plan
from sojourn.sweeps.stored import StoredSweep

#: Of what is no run and no sweep, and where they are not those of a reproduction.
_TABLES = {fidelity.KIND: "cells.csv and partings.csv"}

if TYPE_CHECKING:
    from distributed import Client
    from matplotlib.figure import Figure

    from sojourn.report.plot import Options


class Sweep(StoredSweep):
    """A stored sweep."""

    def plot(self, y: str, **options: Unpack[Options]) -> Figure:
        """A figure of a metric over the grid: see :func:`sojourn.plot`."""
        from sojourn.report.plot import plot

        return plot(self, y, **options)

    def __repr__(self) -> str:
        return f"<sojourn.Sweep {describe_sweep(self)}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(describe_sweep(self))}</p>{self.summary._repr_html_()}"


def sweep(
    scenario: Scenario | Source,
    *,
    directory: str | Path | None = None,
    overrides: Iterable[str] = (),
    jobs: int | None = None,
    client: Client | None = None,
    force: bool = False,
    retry_failed: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    backend: str = "sim",
) -> Sweep:
    """Runs the grid of a scenario's sweep table, what is not stored yet, as ``sojourn sweep`` does.

    ``directory`` is where results go, below ``results/`` by default; one that holds something else
    is refused unless ``force``. ``jobs`` runs go on at a time, one per core by default. With
    ``client``, a ``distributed.Client``, they go on on its cluster, on all workers by default.
    ``progress`` is told how many of how many runs are done. ``backend`` is as of ``run``.

    Raises:
        ScenarioError: names the field, what was given and what is allowed.

    """
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario, overrides)
    planned = plan(loaded, backend)
    out = located(str(directory)) if directory is not None else None
    tenant = place.tenant(loaded, planned)
    at_once = _at_once(backend, jobs, client)  # refuses before anything is cleared
    with claimed(tenant, out, warnings.warn, force=force, terms=PYTHON) as claim:
        run.sweep(
            planned,
            claim.work,
            at_once,
            progress=progress,
            warn=warnings.warn,
            retry_failed=retry_failed,
            execute=of_client(client),
        )
        _summarise(claim.work)
    return Sweep(claim.directory)


def _summarise(directory: Path) -> None:
    """Writes the table that ``sojourn sweep`` writes."""
    table.save(Sweep(directory).summary, directory)


def _at_once(name: str, jobs: int | None, client: Client | None) -> int:
    """How many runs go on at a time.

    Raises:
        ScenarioError: if a cluster is asked for what only this machine can do.

    """
    if backends.backend(name).side_by_side:
        return jobs or (os.cpu_count() or 1 if client is None else sys.maxsize)
    if client is not None:
        raise ScenarioError(f"client: {name} runs are this machine's own; leave it out")
    if (jobs or 1) > 1:
        warnings.warn(f"jobs={jobs}: {name} runs go on one at a time", stacklevel=3)
    return 1


def open_directory(directory: str | Path) -> Result | Sweep:
    """Opens what ``sojourn run`` or ``sojourn sweep`` has stored."""
    path = located(str(directory))
    kind = manifest.read(path)["kind"]
    if kind == run_directory.KIND:
        return Result.of(run_directory.load(path))
    if kind == place.KIND:
        return Sweep(path)
    tables = _TABLES.get(kind, "comparison.csv and tables/*.csv")
    raise SojournError(f"{path}: holds a {kind}; its tables are {tables}")
