"""Runs scenarios on all cores.

Threads, not processes: the core releases the GIL for the whole run and what Python does per run
takes a few milliseconds, so threads keep the cores busy, share the code, and leave no orphans when
the process is killed. At most two runs per worker are under way or waiting, so memory is bounded
by the workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from sojourn.interruption import heard

Item = TypeVar("Item")
Done = TypeVar("Done")

_here = threading.local()


def execute(
    items: Iterable[Item], work: Callable[[Item], Done], jobs: int, patience: float = 1.0
) -> Generator[Done | None, None, None]:
    """Yields ``work(item)`` of every item as they complete, and ``None`` whenever nothing has
    been completed for ``patience`` seconds, so that the caller can do what is due. Whoever stops
    asking ends the work that is under way, where that calls :func:`go_on`.
    """
    pending: set[Future[Done]] = set()
    source = iter(items)
    left = threading.Event()
    pool = ThreadPoolExecutor(jobs, "sojourn", heed, (left,))
    try:
        while True:
            pending.update(pool.submit(work, i) for i in islice(source, 2 * jobs - len(pending)))
            if not pending:
                return
            with heard():
                done, pending = wait(pending, patience, FIRST_COMPLETED)
            if not done:
                yield None
            for future in sorted(done, key=_has_failed):  # what is completed is not lost
                yield future.result()
    finally:
        left.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _has_failed(future: Future[Done]) -> bool:
    return future.exception() is not None


def heed(left: threading.Event) -> None:
    """Has the work of this thread end when ``left`` is set."""
    _here.left = left


def go_on(_share: float = 0.0) -> None:
    """Called now and then by what takes long, with the share of it that is done.

    Raises:
        KeyboardInterrupt: in a thread for whose work nobody waits any more.

    """
    left: threading.Event | None = getattr(_here, "left", None)
    if left is not None and left.is_set():
        raise KeyboardInterrupt
