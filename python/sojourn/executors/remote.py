"""What a worker of a cluster does: it is sent the work once, and then items."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Sequence

from distributed import Status, Worker, WorkerPlugin

from sojourn import scratch
from sojourn.build import identity
from sojourn.errors import SojournError
from sojourn.executors import Work, threads

#: By name, packed until it is first needed.
_WORK: dict[str, bytes | Work[object, object]] = {}
#: What is set when the work is taken away again.
_LEFT: dict[str, threading.Event] = {}


class Delivery(WorkerPlugin):  # type: ignore[misc]
    """Brings work to every worker, those that join later too."""

    def __init__(self, name: str, work: bytes, place: str | None) -> None:
        self.name = name
        self._work = work
        self._place = place

    def setup(self, worker: Worker) -> None:
        """Keeps the work; it is unpacked when it is needed."""
        _WORK[self.name] = self._work
        _LEFT.setdefault(self.name, threading.Event())
        scratch.base = self._place or scratch.base

    def teardown(self, worker: Worker) -> None:
        """Forgets it, and ends what is under way; not where it is the worker that goes, whose work
        another one does again.
        """
        _WORK.pop(self.name, None)
        left = _LEFT.pop(self.name, None)
        if left and worker.status != Status.closing:
            left.set()


def perform(name: str, items: Sequence[object], build: str) -> tuple[object, float]:
    """What delivered work comes to, and how many seconds each item took.

    Raises:
        SojournError: if the coordinator is of another build, or does not wait for it any more.

    """
    began = time.perf_counter()
    if identity() != build:
        raise SojournError(other_build(identity(), build))
    kept = _WORK[name]
    work: Work[object, object] = pickle.loads(kept) if isinstance(kept, bytes) else kept
    _WORK[name] = work
    threads.heed(_LEFT[name])
    try:
        done = work.join([work(item) for item in items])
    except KeyboardInterrupt:  # which would end the worker
        raise SojournError("nobody waits for this any more") from None
    return done, (time.perf_counter() - began) / len(items)


def other_build(theirs: str, ours: str) -> str:
    """What is said of a worker of another build."""
    return f"a worker of the cluster has Sojourn {theirs}, and here is {ours}: install the same"
