"""Runs a campaign: what is not stored yet, first what is to be done alone, storing as it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.campaign.cases import AnyCase, Computed
from sojourn.campaign.finished import Finished, Run, Simulate
from sojourn.campaign.loop import keep
from sojourn.campaign.results import Stored
from sojourn.executors import Executor, threads
from sojourn.store import manifest
from sojourn.store.lock import exclusive

#: Told how many cases of how many are stored.
Progress = Callable[[int, int], None]
Heard = Callable[[Run], object]


def run(
    cases: Sequence[AnyCase],
    directory: Path,
    jobs: int,
    progress: Progress,
    execute: Executor = threads.execute,
    heard: Heard | None = None,
) -> Stored:
    """What cases come to, each once. They are in ``directory`` when this returns, or however it
    ends. ``heard`` is told of those that are done now.
    """
    with exclusive(directory, lambda: None):
        if (directory / manifest.FILE).exists():
            manifest.read(directory)
        store = Finished(directory)
        results = store.of(cases)
        missing = [case for case in cases if case not in results]
        alone = [case for case in missing if isinstance(case, Computed) and case.alone]
        others = [case for case in missing if case not in alone]
        campaign = _Campaign(store, results, progress, len(cases), heard)
        campaign.tell()
        try:
            for some, workers in ((alone, 1), (others, jobs)):
                told = execute(some, Simulate.of(some), workers)
                keep(told, campaign)
        finally:
            campaign.tell()
    return results


@dataclass
class _Campaign:
    store: Finished
    results: Stored
    progress: Progress
    total: int
    heard: Heard | None

    @property
    def full(self) -> bool:
        return self.store.full

    def take(self, done: Sequence[Run]) -> None:
        for run in done:
            if self.heard:
                self.heard(run)
            self.store.add(run)
            self.results.add(run.case, run.outcome)

    def flush(self) -> None:
        self.store.flush()

    def tell(self) -> None:
        self.progress(len(self.results), self.total)
