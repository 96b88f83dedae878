"""Work in processes of its own, which nothing that it does takes this one down with.

A worker process imports what it needs once and forks a child for each piece of work, so that none
sees what another has left behind. A child that crashes, that takes more than ``limits.memory``, or
that stays in one callback of a control for ``limits.seconds`` on the wall clock, ends alone.
"""

from __future__ import annotations

import atexit
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from typing import Generic, NoReturn

from sojourn import _internal, scratch
from sojourn.errors import LostError, RunError, refused
from sojourn.executors import Done, Item, threads
from sojourn.interruption import heard

#: How often a worker that says nothing is looked at, s.
_LOOK = 0.25
_NOTE = struct.Struct("=QQII")  # as `note.rs` writes it
_DISCIPLINE = 0xFFFFFFFF


@dataclass
class Limits:
    """What a piece of work may take."""

    #: In one callback of a control, on the wall clock.
    seconds: float = 60.0
    #: Bytes on top of what the worker has when it begins.
    memory: int = 4 << 30

    def take(self, others: Limits) -> None:
        """Becomes as others are, which were set in another process."""
        self.seconds, self.memory = others.seconds, others.memory


@dataclass(frozen=True)
class Request(Generic[Done]):
    """A piece of work on its way to a worker process."""

    function: Callable[..., Done]
    args: tuple[object, ...]
    #: The further keywords of the function, which tell the other side what they are called with.
    heard: tuple[str, ...]
    #: Bytes on top of what the worker has when it begins.
    memory: int


@dataclass(frozen=True)
class Heard:
    """What a function that is heard was called with."""

    name: str
    args: tuple[object, ...]


@dataclass(frozen=True)
class Value(Generic[Done]):
    """What a piece of work came to."""

    value: Done

    def result(self) -> Done:
        """That."""
        return self.value


@dataclass(frozen=True)
class Refusal:
    """The error of bad input that it raised."""

    field: str
    message: str

    def result(self) -> NoReturn:
        """Raises the same."""
        raise refused(self.field, self.message)


@dataclass(frozen=True)
class Failure:
    """Any other error that it raised."""

    message: str
    failed_at: float | None

    def result(self) -> NoReturn:
        """Raises it as the run's."""
        raise RunError(self.message, self.failed_at)


limits = Limits()
#: In a worker process, which needs no other.
within = False


def execute(
    items: Iterable[Item], work: Callable[[Item], Done], jobs: int, patience: float = 1.0
) -> Generator[Done | None, None, None]:
    """As :class:`sojourn.executors.Executor`; ``work`` is a function that another process finds by
    its name.
    """
    return threads.execute(items, partial(call, work), jobs, patience)


def call(
    function: Callable[..., Done], *args: object, **heard: Callable[..., object] | None
) -> Done:
    """``function(*args)`` in another process. What is ``heard`` there is called here: functions
    that ``function`` takes as further keywords.

    Raises:
        ScenarioError: if the function does.
        LostError: if its process ends or is ended.
        RunError: if it raises anything else.

    """
    if within:
        return function(*args, **heard)
    listeners = {name: listener for name, listener in heard.items() if listener is not None}
    worker = _worker()
    try:
        answer = worker.ask(Request(function, args, tuple(listeners), limits.memory), listeners)
    except BaseException:
        worker.end()
        raise
    _idle.append(worker)
    return answer()


_idle: list[_Worker] = []
_starting = threading.Lock()


def _worker() -> _Worker:
    try:
        return _idle.pop()
    except IndexError:
        return _Worker()


class _Worker:
    def __init__(self) -> None:
        with tempfile.NamedTemporaryFile(dir=scratch.directory(), delete=False) as file:
            self._note = Path(file.name)
        ours, theirs = Pipe()
        self._connection = ours
        command = "from sojourn.executors.worker import main; main()"
        arguments = [str(theirs.fileno()), str(self._note)]
        with _starting:  # else another worker inherits this one's pipe
            self._process = subprocess.Popen(
                [_internal.PROGRAM or sys.executable, "-P", "-c", command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a control prints is no result
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # so that it is ended with its child
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        theirs.close()
        atexit.register(self.end)

    def ask(
        self, request: Request[Done], listeners: Mapping[str, Callable[..., object]]
    ) -> Callable[[], Done]:
        """Has a request done; what gives its value, or raises what it raised."""
        self._note.write_bytes(bytes(_NOTE.size))
        try:
            self._connection.send(request)
            while True:
                self._await()
                told: Heard | Value[Done] | Refusal | Failure = self._connection.recv()
                if not isinstance(told, Heard):
                    return told.result
                listeners[told.name](*told.args)
        except (EOFError, ConnectionError):
            raise self._death() from None

    def _await(self) -> None:
        """Waits for a message, but not for a callback that does not return."""
        seen, since = None, time.monotonic()
        while not self._has_message():
            threads.go_on()
            count, _, _, callback = _NOTE.unpack(self._note.read_bytes())
            if (count, callback) != seen or not callback:
                seen, since = (count, callback), time.monotonic()
            elif time.monotonic() - since > limits.seconds:
                raise self._failure(f"has not returned for {limits.seconds:g} s: stopped")

    def _has_message(self) -> bool:
        with heard():
            return self._connection.poll(_LOOK)

    def _death(self) -> LostError:
        status = self._process.wait()
        name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return self._failure(f"ended its process: {name}")

    def _failure(self, message: str) -> LostError:
        """What the note says of a process that has been ended."""
        _, nanoseconds, flow, callback = _NOTE.unpack(self._note.read_bytes())
        if not callback:
            return LostError(f"the simulation {message}")
        name, at = _internal.CALLBACKS[callback], nanoseconds / 1e9
        who = "queue discipline" if flow == _DISCIPLINE else f"control of flow {flow}"
        return LostError(f"at {at:.9f} s, {who}: {name} {message}", at)

    def end(self) -> None:
        """Ends it and whatever it is doing."""
        atexit.unregister(self.end)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._connection.close()
        self._note.unlink(missing_ok=True)
