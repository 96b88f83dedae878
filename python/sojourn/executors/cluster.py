"""Work by the workers of a Dask cluster.

Items go out several to a task, as many as take about a second, because a task costs the scheduler
about a millisecond; more where there are so many workers that it would be asked too often. What a
worker was doing when it died is done again by another. Items that were there when one worker after
the other ended are tried one by one, with nothing beside them, so that only the one that does it is
lost.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Generic

import cloudpickle
from distributed import Client, Future
from distributed.scheduler import KilledWorker

from sojourn.build import identity
from sojourn.errors import ScenarioError, SojournError
from sojourn.executors import Done, Item, Work
from sojourn.executors.remote import Delivery, other_build, perform
from sojourn.interruption import heard

#: What a task is to take, s; with many workers as long as the scheduler has so many in a second.
_TASK_SECONDS = 1.0
_TASKS_PER_SECOND = 100
#: Items of a task at most.
_MOST_ITEMS = 128
#: How often the workers are counted, s.
_LOOK = 2.0
#: How long a cluster may be without workers before that is said, s.
_ABSENCE = 30.0
#: How often work is delivered while workers go.
_ATTEMPTS = 10
#: Weight of the latest task in what an item is expected to take.
_WEIGHT = 0.3


class Cluster:
    """A cluster as an :class:`sojourn.executors.Executor`."""

    def __init__(self, client: Client, place: str | None = None) -> None:
        """Of a connected client, whose workers' files go to ``place`` if that is given.

        Raises:
            ScenarioError: if the client is asynchronous, or a worker has another build.

        """
        if client.asynchronous:
            raise ScenarioError("client: is asynchronous; expected Client(asynchronous=False)")
        self._client = client
        self._place = place
        _check_builds(client)

    def __call__(
        self, items: Iterable[Item], work: Work[Item, Done], jobs: int, patience: float = 1.0
    ) -> Generator[Done | None, None, None]:
        """As :class:`sojourn.executors.Executor`."""
        name = f"sojourn-{uuid.uuid4().hex}"
        self._deliver(Delivery(name, cloudpickle.dumps(work), self._place))
        tasks = _Tasks(self._client, name, items, work, jobs)
        try:
            yield from tasks.run(patience)
        finally:
            tasks.cancel()
            if self._client.status == "running":
                with suppress(OSError):  # of a worker that goes at this moment
                    self._client.unregister_worker_plugin(name)

    def _deliver(self, delivery: Delivery) -> None:
        """Again where a worker goes at this moment: then Dask gives up on all."""
        for _ in range(_ATTEMPTS):
            try:
                self._client.register_plugin(delivery)
            except OSError:
                time.sleep(_LOOK / 4)
            else:
                return
        raise SojournError(_GONE)


class _Tasks(Generic[Item, Done]):
    def __init__(
        self, client: Client, name: str, items: Iterable[Item], work: Work[Item, Done], jobs: int
    ) -> None:
        self._client = client
        self._name = name
        self._source = iter(items)
        self._work = work
        self._jobs = jobs
        #: Items that may have ended their workers, or been there when another did.
        self._suspects: deque[Item] = deque()
        #: The task of a suspect that has nothing beside it.
        self._alone: Future | None = None
        self._pending: dict[Future, list[Item]] = {}
        self._arrived: SimpleQueue[Future] = SimpleQueue()
        self._threads = 1
        self._counted = -_LOOK
        #: When there was a worker last, or that was said.
        self._absent_since = time.monotonic()
        #: What an item is expected to take, s.
        self._seconds = _TASK_SECONDS

    def run(self, patience: float) -> Iterator[Done | None]:
        while True:
            self._count_threads()
            self._submit()
            if not self._pending:
                return
            futures = self._take(patience)
            if not futures:
                self._check_connection()
                yield None
            # Asked once: a result that is lost with its worker changes it at any time.
            statuses = [future.status for future in futures]
            asked = list(zip(futures, statuses, strict=True))
            yield from self._done([f for f, status in asked if status == "finished"])
            for future, status in asked:
                if status in _AGAIN:
                    future.add_done_callback(self._arrived.put)
                elif status != "finished":
                    yield from self._failed(future)

    def _count_threads(self) -> None:
        """Looks now and then how many workers there are: they come and go."""
        if time.monotonic() - self._counted > _LOOK:
            threads = sum(self._client.nthreads().values())
            self._threads = max(threads, 1)
            self._counted = time.monotonic()
            self._mind_absence(threads == 0)

    def _mind_absence(self, absent: bool) -> None:
        """Says it once each time that there is no worker for long: jobs may never begin."""
        now = time.monotonic()
        if not absent:
            self._absent_since = now
        elif now - self._absent_since > _ABSENCE:
            self._absent_since = float("inf")
            print(f"sojourn: {_NOBODY}", file=sys.stderr, flush=True)

    def _submit(self) -> None:
        # The next task of each worker waits there; fewer jobs than workers do not wait.
        most = self._jobs if self._jobs < self._threads else 2 * self._threads
        while len(self._pending) < most and not self._suspects:
            items = self._next()
            if not items:
                return
            self._send(items)
        if self._suspects and not self._pending:
            self._alone = self._send([self._suspects.popleft()])

    def _send(self, items: list[Item]) -> Future:
        future = self._client.submit(perform, self._name, items, identity(), pure=False)
        self._pending[future] = items
        future.add_done_callback(self._arrived.put)
        return future

    def _next(self) -> list[Item]:
        wanted = max(_TASK_SECONDS, self._threads / _TASKS_PER_SECOND)
        count = int(wanted / max(self._seconds, 1e-6))
        return list(islice(self._source, min(max(count, 1), _MOST_ITEMS)))

    def _take(self, patience: float) -> list[Future]:
        """The tasks that have ended, waiting for one."""
        ended = []
        try:
            with heard():
                ended.append(self._arrived.get(timeout=patience))
            while True:
                ended.append(self._arrived.get_nowait())
        except Empty:
            return ended

    def _done(self, futures: list[Future]) -> Iterator[Done]:
        try:
            results = self._client.gather(futures)
        except Exception:
            self._check_connection()  # Dask's own complaint of a scheduler that goes says nothing
            raise
        for future, (done, seconds) in zip(futures, results, strict=True):
            del self._pending[future]
            self._seconds += _WEIGHT * (seconds - self._seconds)
            yield done

    def _failed(self, future: Future) -> Iterator[Done]:
        items = self._pending.pop(future)
        error = future.exception() if future.status == "error" else None
        if not isinstance(error, KilledWorker):
            raise error or SojournError(_GONE)
        if future != self._alone:
            self._suspects.extend(items)
        else:
            yield self._work.lost(items[0], f"ended its worker {error.allowed_failures + 1} times")

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise SojournError(_GONE)

    def cancel(self) -> None:
        if self._pending and self._client.status == "running":
            self._client.cancel(list(self._pending), force=True)
        self._pending.clear()


#: A result that was lost with its worker before it was fetched: the task is done again.
_AGAIN = frozenset(("lost", "pending"))
_NOBODY = (
    "the cluster has no worker: waiting for one; a batch system says why its jobs wait (Slurm: "
    "squeue --me), a scheduler's workers are started with dask worker ADDRESS"
)
_GONE = "the cluster's scheduler is gone: what was finished is stored; the same command goes on"


def _check_builds(client: Client) -> None:
    """Refuses a cluster one of whose workers has another build, or none."""
    from sojourn.metrics import metrics

    own = [m.name for m in metrics() if not m.compute.__module__.startswith("sojourn.")]
    if own:
        raise ScenarioError(
            f"--cluster: the metric {own[0]} is this program's own, which workers do not know; run "
            "without it, and open the results with it"
        )
    ours = identity()
    answers: dict[str, str | BaseException] = client.run(identity, on_error="return")
    for worker, theirs in answers.items():
        if isinstance(theirs, ImportError):
            raise ScenarioError(f"--cluster: worker {worker} has no Sojourn: install {ours} there")
        if isinstance(theirs, OSError):
            continue  # it is gone
        if isinstance(theirs, BaseException):
            raise SojournError(f"--cluster: worker {worker}: {type(theirs).__name__}: {theirs}")
        if theirs != ours:
            raise ScenarioError(f"--cluster: {other_build(theirs, ours)}")
