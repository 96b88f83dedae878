"""Runs of one scenario: made on a backend or on several, told of where they cannot be trusted, and
stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.backends import Backend, backend
from sojourn.engine import Progress
from sojourn.measured import Measured
from sojourn.origin import distrust
from sojourn.scenario import Scenario
from sojourn.store import backends_directory, run_directory
from sojourn.store.place import Claim, Say, Tenant, claimed

if TYPE_CHECKING:
    from sojourn.store.rows import Row

#: Around each run: gives what is to be told the share of it that is done, if anything.
Watch = Callable[[], AbstractContextManager[Progress | None]]


@dataclass(frozen=True)
class Wanted:
    """Runs of a scenario that are to be stored."""

    scenario: Scenario
    #: How many on the backend of each name.
    counts: Mapping[str, int]
    #: Names of the only metrics to give; ``None`` for all that need no further runs.
    metrics: Iterable[str] | None
    #: Their directory, if it was named, and whether what it holds is replaced.
    out: Path | None
    force: bool


@dataclass(frozen=True)
class Made:
    """What has come of them."""

    scenario: Scenario
    #: By backend.
    runs: Mapping[str, Sequence[Measured]]
    #: Of several backends ``backends.csv``, metric by metric: columns and rows.
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()

    @property
    def is_one(self) -> bool:
        """Whether there is one run only."""
        return len(self.every) == 1

    @property
    def every(self) -> list[Measured]:
        """All runs, backend by backend."""
        return [run for of_backend in self.runs.values() for run in of_backend]


def made(
    scenario: Scenario,
    on: Backend,
    metrics: Iterable[str] | None,
    warn: Say,
    progress: Progress | None = None,
    spool: Path | None = None,
    repetition: int = 0,
) -> Measured:
    """A run with the metrics that are asked for; ``warn`` is told why it cannot be trusted, and
    what else is to be known of it. What it records meanwhile is below ``spool``, if given.

    Raises:
        RunError: if it fails.
        ScenarioError: if the scenario, or the machine, does not allow it.

    """
    result = on.run(scenario, progress, repetition, spool)
    for reason in distrust(result.origin):
        warn(reason)
    for note in result.data.notes.values():
        warn(f"warning: {note}")
    return result.request(metrics)


def stored(
    wanted: Wanted, watch: Watch, warn: Say, show: Callable[[Made], object]
) -> tuple[Path, Made]:
    """Makes runs and stores them: one as a run's directory, several beside each other. ``show`` is
    given them even if they cannot be stored: a disk that is full loses only what it would have
    held.

    Raises:
        RunError: if one fails.
        ScenarioError: if the scenario, the machine or the directory does not allow it.

    """
    work = _Work(wanted, watch, warn, show)
    return work.one() if sum(wanted.counts.values()) == 1 else work.several()


@dataclass(frozen=True)
class _Work:
    wanted: Wanted
    watch: Watch
    warn: Say
    show: Callable[[Made], object]

    def one(self) -> tuple[Path, Made]:
        """Only the run."""
        (name,) = self.wanted.counts
        scenario, on = self.wanted.scenario, backend(name)
        with self._claimed(run_directory.tenant(scenario, on.key())) as claim:
            with self.watch() as progress:
                run = made(scenario, on, self.wanted.metrics, self.warn, progress, claim.directory)
            found = Made(scenario, {name: [run]})
            try:
                run_directory.save(run, claim.work)
            finally:
                self.show(found)
        return claim.directory, found

    def several(self) -> tuple[Path, Made]:
        """A directory each, beside the table of how the backends differ."""
        scenario, counts = self.wanted.scenario, self.wanted.counts
        on = {name: backend(name) for name in counts}
        origins = {name: [on[name].key(n) for n in range(counts[name])] for name in counts}
        tenant = backends_directory.tenant(scenario, origins)
        with self._claimed(tenant) as claim:
            runs = {name: list(self._runs(name, on[name], claim)) for name in counts}
            found = _compared(scenario, runs)
            try:
                backends_directory.finish(tenant, claim.work, found.columns, found.rows)
            finally:
                self.show(found)
        return claim.directory, found

    def _claimed(self, tenant: Tenant) -> AbstractContextManager[Claim]:
        return claimed(tenant, self.wanted.out, self.warn, force=self.wanted.force)

    def _runs(self, name: str, on: Backend, claim: Claim) -> Iterator[Measured]:
        scenarios = on.runs_of(self.wanted.scenario, self.wanted.counts[name])
        for number, scenario in enumerate(scenarios):

            def warn(reason: str, number: int = number) -> None:
                self.warn(f"{name}-{number}: {reason}")

            with self.watch() as progress:
                spool = claim.directory
                run = made(
                    scenario, on, self.wanted.metrics, warn, progress, spool, repetition=number
                )
            backends_directory.save_run(run, claim.work, name, number)
            yield run


def _compared(scenario: Scenario, runs: Mapping[str, Sequence[Measured]]) -> Made:
    """Of several backends with how they differ."""
    if len(runs) == 1:
        return Made(scenario, runs)
    from sojourn.backends.disagreement import columns, table  # whose tests take long to import

    return Made(scenario, runs, columns(list(runs)), table(runs))
