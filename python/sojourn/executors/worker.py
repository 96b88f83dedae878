"""A worker process: forks a child for each request, which does it and says how it went."""

from __future__ import annotations

import os
import resource
import signal
import sys
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np  # noqa: F401  (these three are imported once, for all children)

from sojourn import _internal
from sojourn.errors import ScenarioError
from sojourn.executors import processes
from sojourn.executors.processes import Failure, Heard, Refusal, Request, Value
from sojourn.external import hooks, inside  # noqa: F401


def main() -> None:
    """Serves the pipe whose descriptor is the first argument, with a note in the file that is the
    second, until its other end is closed.
    """
    _internal.end_with(os.getppid())
    connection, note = Connection(int(sys.argv[1])), Path(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            request: Request[object] = connection.recv()
        except EOFError:
            return
        child = os.fork()
        if not child:
            _work(connection, note, request)
        _, status = os.waitpid(child, 0)
        if status:
            _end_like(status)


def _work(connection: Connection, note: Path, request: Request[object]) -> None:
    """Does a request, in the child, which ends with it."""
    processes.within = True
    _internal.end_with(os.getppid())
    _internal.keep_note_in(note)
    _limit_memory(request.memory)
    try:
        listeners = {name: partial(_tell, connection, name) for name in request.heard}
        answer: Value[object] | Refusal | Failure = Value(
            request.function(*request.args, **listeners)
        )
    except ScenarioError as error:
        answer = Refusal(error.field, error.message or str(error))
    except BaseException as error:
        told = str(error) if hasattr(error, "failed_at") else f"{type(error).__name__}: {error}"
        answer = Failure(told, getattr(error, "failed_at", None))
    connection.send(answer)
    os._exit(0)


def _tell(connection: Connection, name: str, *args: object) -> None:
    connection.send(Heard(name, args))


def _limit_memory(memory: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + memory
    _, allowed = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY:
        most = min(most, allowed)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _end_like(status: int) -> None:
    """Ends this process as its child has ended, for the other end of the pipe to see."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))
