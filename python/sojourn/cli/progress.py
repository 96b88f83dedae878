"""Progress bars with the time left, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from sojourn.interruption import deferred

_ON = "the same command goes on from there"


@contextmanager
def progress(unit: str, store: Path | None = None) -> Iterator[Callable[[int, int], None]]:
    """Gives a function that is told how many of how many are done. If a directory is to ``store``
    them, interruptions wait until it is in order, and say how many of them it has.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed or 0:.1f} {unit}/s")

    columns = (TextColumn(unit), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
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
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    columns = ("simulating", BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
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
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)
    bar = Progress(*columns, TimeElapsedColumn(), console=console)
    task, told = bar.add_task("", total=1.0), ""

    def report(what: str, done: float) -> None:
        nonlocal told
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
