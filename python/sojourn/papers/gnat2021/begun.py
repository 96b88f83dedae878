"""Runs side by side: all that are asked for begin with the first cell that is measured."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

#: Measures a cell; ``None`` where there is nothing to measure.
Measure = Callable[[], float | None]


@cache
def pool() -> ThreadPoolExecutor:
    """What runs are made in, as many at a time as there are processors."""
    return ThreadPoolExecutor(os.cpu_count() or 1)


def after(begin: Callable[[], None], measure: Measure) -> float | None:
    """Measures when all runs are begun; ``begin`` is cached, so that it does so once."""
    begin()
    return measure()
