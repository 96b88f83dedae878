"""Runs side by side: all that are asked for begin with the first cell that is measured."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Generic, TypeVar

from sojourn.executors.threads import heed
from sojourn.interruption import heard

#: Measures a cell; ``None`` where there is nothing to measure.
Measure = Callable[[], float | None]
Done = TypeVar("Done")

_left = threading.Event()


class Begun(Generic[Done]):
    """Work that is done beside what follows, as much at a time as there are processors."""

    def __init__(self, work: Callable[[], Done]) -> None:
        self._done = _pool().submit(work)

    def result(self) -> Done:
        """What it comes to, waiting for it. An interruption ends all that is begun."""
        try:
            with heard():
                return self._done.result()
        except KeyboardInterrupt:
            _left.set()
            _pool().shutdown(wait=False, cancel_futures=True)
            raise


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, initializer=heed, initargs=(_left,))


def after(begin: Callable[[], None], measure: Measure) -> float | None:
    """Measures when all runs are begun; ``begin`` is cached, so that it does so once."""
    begin()
    return measure()
