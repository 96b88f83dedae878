"""Runs scenarios on all cores.

Threads, not processes: the core releases the GIL for the whole run and what Python does per run
takes a few milliseconds, so threads keep the cores busy, share the code, and leave no orphans when
the process is killed. At most two runs per worker are under way or waiting, so memory is bounded
by the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


def execute(
    items: Iterable[Item], work: Callable[[Item], Done], jobs: int, patience: float = 1.0
) -> Iterator[Done | None]:
    """Yields ``work(item)`` of every item as they complete, and ``None`` whenever nothing has
    been completed for ``patience`` seconds, so that the caller can do what is due.
    """
    pending: set[Future[Done]] = set()
    source = iter(items)
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="sojourn")
    try:
        while True:
            pending.update(pool.submit(work, i) for i in islice(source, 2 * jobs - len(pending)))
            if not pending:
                return
            done, pending = wait(pending, patience, FIRST_COMPLETED)
            if not done:
                yield None
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
