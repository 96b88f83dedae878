"""Work in processes of its own, which nothing that it does takes this one down with.

A worker process imports what it needs once and forks a child for each piece of work, so that none
sees what another has left behind. A child that crashes, that takes more than ``limits.memory``,
that stays in one callback of a control or in loading one for ``limits.seconds`` on the wall clock,
or that writes to what is not its own, ends alone.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sojourn import _internal, scratch
from sojourn.executors import Done, Item, threads
from sojourn.executors.channel import Channel
from sojourn.executors.frames import GarbledError
from sojourn.executors.messages import Failure, Heard, Phase, Refusal, Request, Value
from sojourn.executors.watch import Watch

#: How often a worker that says nothing is looked at, s.
_LOOK = 0.25


@dataclass
class Limits:
    """What a piece of work may take."""

    #: In one callback of a control, and in loading one, on the wall clock.
    seconds: float = 60.0
    #: Bytes on top of what the worker has when it begins.
    memory: int = 4 << 30

    def take(self, others: Limits) -> None:
        """Becomes as others are, which were set in another process."""
        self.seconds, self.memory = others.seconds, others.memory


limits = Limits()
#: In a worker process, which needs no other: by which it tells what it is doing.
within: Callable[[Phase], object] | None = None


@contextmanager
def phase(name: str) -> Iterator[None]:
    """In a worker process: what is done in here may take as long as a callback, and errors call it
    by this name.
    """
    tell = within or (lambda _: None)
    tell(Phase(name))
    try:
        yield
    finally:
        tell(Phase(""))


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
        answer = worker.ask(function, args, listeners)
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
        self._socket, theirs = socket.socketpair()
        command = "from sojourn.executors.worker import main; main()"
        arguments = [str(theirs.fileno()), str(self._note)]
        with _starting:  # else another worker inherits this one's socket
            self._process = subprocess.Popen(
                [_internal.PROGRAM or sys.executable, "-P", "-c", command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # so that it is ended with its child
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        theirs.close()
        atexit.register(self.end)

    def ask(
        self,
        function: Callable[..., Done],
        args: tuple[object, ...],
        listeners: Mapping[str, Callable[..., object]],
    ) -> Callable[[], Done]:
        """Has a function called there; what gives its value, or raises what it raised."""
        watch, channel = Watch(self._note), Channel(self._socket)
        request = Request(function, args, tuple(listeners), limits.memory, channel.key)
        try:
            channel.ask(request)
            return self._answer(channel, watch, listeners)
        except GarbledError:
            raise watch.lost("has used descriptors that are not its own: stopped") from None
        except ConnectionError:
            raise watch.lost(_ended(self._process.wait())) from None
        finally:
            channel.close()

    def _answer(
        self, channel: Channel, watch: Watch, listeners: Mapping[str, Callable[..., object]]
    ) -> Callable[[], Any]:
        """Waits for the answer and the end of the process that gave it."""
        answer: Value[Any] | Refusal | Failure | None = None
        while True:
            for told in channel.messages(_LOOK):
                if isinstance(told, int):
                    if answer is None:
                        raise watch.lost(_ended(os.waitstatus_to_exitcode(told)))
                    return answer.result
                if isinstance(told, Phase):
                    watch.begin(told.name)
                elif isinstance(told, Heard):
                    listeners[told.name](*told.args)
                elif isinstance(told, (Value, Refusal, Failure)):
                    answer = told
                    watch.begin("what has been done")
            threads.go_on()
            watch.check(limits.seconds)

    def end(self) -> None:
        """Ends it and whatever it is doing."""
        atexit.unregister(self.end)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._socket.close()
        self._note.unlink(missing_ok=True)


def _ended(status: int) -> str:
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"has ended its process ({how})"
