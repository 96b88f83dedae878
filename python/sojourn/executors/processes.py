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
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

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


def call(function: Callable[..., Done], *args: Any, **heard: Callable[..., object] | None) -> Done:
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
        answer = worker.ask((function, args, tuple(listeners), limits.memory), listeners)
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

    def ask(self, request: Any, listeners: dict[str, Callable[..., object]]) -> Callable[[], Any]:
        """Has a request done; what gives its value, or raises what it raised."""
        self._note.write_bytes(bytes(_NOTE.size))
        try:
            self._connection.send(request)
            while True:
                self._await()
                what, *told = self._connection.recv()
                if what != "heard":
                    return partial(_ANSWERS[what], *told)
                name, args = told
                listeners[name](*args)
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


def _value(value: Any) -> Any:
    return value


def _refusal(field: str, message: str) -> Any:
    raise refused(field, message)


def _error(message: str, failed_at: float | None) -> Any:
    raise RunError(message, failed_at)


_ANSWERS: dict[str, Callable[..., Any]] = {"value": _value, "refused": _refusal, "error": _error}
