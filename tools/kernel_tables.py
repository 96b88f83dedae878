"""How the tables of kernels are measured: several runs at a time, each stored as it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from sojourn.campaign.loop import keep
from sojourn.errors import ScenarioError, SojournError
from sojourn.executors.threads import execute
from sojourn.interruption import deferred

Item = TypeVar("Item")
Done = TypeVar("Done")


def do(
    items: Iterable[Item],
    work: Callable[[Item], Done],
    take: Callable[[Done], object],
    jobs: int,
) -> None:
    """Does the work of every item, ``jobs`` at a time. ``take`` stores what each came to, as they
    complete; an interruption does not come in the middle of it, and ends what is under way.
    """
    with deferred():
        keep(execute(items, work, jobs), _Each(take))


class _Each(Generic[Done]):
    """Keeps at once what each item came to, in a table of its own: nothing waits."""

    full = False

    def __init__(self, store: Callable[[Done], object]) -> None:
        self._store = store

    def take(self, done: Done) -> None:
        self._store(done)

    def flush(self) -> None: ...

    def tell(self) -> None: ...


def command(main: Callable[[Sequence[str] | None], int]) -> None:
    """Runs a program, which ends the process: what is wrong is one line."""
    try:
        sys.exit(main(None))
    except (SojournError, ScenarioError) as error:
        sys.exit(f"sojourn: {error}")
    except KeyboardInterrupt:
        print("sojourn: interrupted: the same command goes on from there", file=sys.stderr)
        sys.exit(130)
