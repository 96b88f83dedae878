"""Where work is done: in threads, or in processes that outlive what goes wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


class Executor(Protocol):
    """What every place of work offers, as the function ``execute`` of its module."""

    def __call__(
        self, items: Iterable[Item], work: Callable[[Item], Done], jobs: int, patience: float = 1.0
    ) -> Iterator[Done | None]:
        """Yields ``work(item)`` of every item as they complete, ``jobs`` at a time, and ``None``
        whenever nothing has been completed for ``patience`` seconds, so that the caller can do
        what is due.
        """
