"""Where work is done: in threads, in processes that outlive what goes wrong in them, or by the
workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")
_Given_contra = TypeVar("_Given_contra", contravariant=True)


class Work(Protocol[_Given_contra, Done]):
    """What is to be done with each item. One that goes to a cluster can be pickled."""

    def __call__(self, item: _Given_contra, /) -> Done:
        """Does it."""

    def lost(self, item: _Given_contra, why: str, /) -> Done:
        """What it came to if whatever worked on the item has ended, again and again."""

    def join(self, done: Sequence[Done], /) -> Done:
        """Several results as one, which travels as one."""


class Executor(Protocol):
    """What every place of work offers, as the function ``execute`` of its module."""

    def __call__(
        self, items: Iterable[Item], work: Work[Item, Done], jobs: int, patience: float = 1.0
    ) -> Generator[Done | None, None, None]:
        """Yields ``work(item)`` of every item as they complete, ``jobs`` at a time, or those of
        several items joined, and ``None`` whenever nothing has been completed for ``patience``
        seconds, so that the caller can do what is due. What is under way when the caller closes it
        is ended.
        """
