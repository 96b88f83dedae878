"""The loop of all campaigns: what work comes to is taken in, stored every few seconds, and told."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from typing import Protocol, TypeVar

Done = TypeVar("Done")
Done_contra = TypeVar("Done_contra", contravariant=True)

#: What is done is stored at least so often, s.
FLUSH = 2.0


class Keeper(Protocol[Done_contra]):
    """Keeps what work comes to."""

    @property
    def full(self) -> bool:
        """Whether as much waits to be stored as may wait."""

    def take(self, done: Done_contra) -> None:
        """Takes in what some of the work came to; it is safe after the next flush."""

    def flush(self) -> None:
        """Stores what waits, once."""

    def tell(self) -> None:
        """Says how much is stored."""


def keep(told: Generator[Done | None, None, None], keeper: Keeper[Done]) -> None:
    """Has all that an executor tells kept; however this ends, what is done is stored."""
    flushed = time.monotonic()
    try:
        with closing(told):
            for done in told:
                if done is not None:
                    keeper.take(done)
                if keeper.full or time.monotonic() - flushed >= FLUSH:
                    keeper.flush()
                    flushed = time.monotonic()
                    keeper.tell()
    finally:
        keeper.flush()
