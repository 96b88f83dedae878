"""Progress bars with the time left, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.interruption import deferred
from sojourn.literal import printable

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

_ON = "the same command goes on from there"


@contextmanager
def progress(unit: str, store: Path | None = None) -> Iterator[Callable[[int, int], None]]:
    """Gives a function that is told how many of how many are done. If a directory is to ``store``
    them, interruptions wait until it is in order, and say how many of them it has.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(unit), BarColumn(), MofNCompleteColumn(), _rate(unit), _time())
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(unit, total=None)
    told: tuple[str, ...] = ()

    def report(done: int, total: int) -> None:
        nonlocal told
        if store and total:
            told = (f"{done} of {total} {unit} are stored in {store}; {_ON}",)
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        with deferred() if store else nullcontext():
            yield report
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*told) from None
    finally:
        bar.stop()


def _rate(unit: str) -> ProgressColumn:
    """How many are done per second, once that can be told."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:.1f} {unit}/s" if speed else "")

    return Rate()


def _time() -> ProgressColumn:
    """What is left, or in the end what it took."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Time(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            if task.finished_time is not None:
                return Text(f"took {timedelta(seconds=int(task.finished_time))}")
            left = task.time_remaining
            return Text("" if left is None else f"{timedelta(seconds=int(left))} left")

    return Time()


#: A single run that is done sooner needs no bar, s.
_PATIENCE = 1.0


@contextmanager
def share() -> Iterator[Callable[[float], None] | None]:
    """Gives a function that is told the share of a run that is done; its bar appears only on a
    terminal and if the run takes a while. Nothing where there is no terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn

    columns = ("simulating", BarColumn(), TaskProgressColumn(), _time())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=1.0)
    began = time.monotonic()

    def report(done: float) -> None:
        if time.monotonic() - began >= _PATIENCE:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield report
    finally:
        bar.stop()


@contextmanager
def steps() -> Iterator[Callable[[str, float], None]]:
    """Gives a function that is told what is being done, and the share of all that is done: a bar on
    a terminal, else a line for each step and tenth.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        _time(),
    )
    bar = Progress(*columns, console=console)
    task, told = bar.add_task("", total=1.0), ""

    def report(what: str, done: float) -> None:
        nonlocal told
        what = printable(what)
        line = f"{what} ({10 * int(10 * done)} %)"
        if console.is_terminal:
            bar.start()
            bar.update(task, description=what, completed=done)
        elif line != told:
            print(line, file=sys.stderr, flush=True)
        told = line

    try:
        yield report
    finally:
        bar.stop()
