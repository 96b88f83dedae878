"""A worker process: forks a child for each request, which does it and says how it went."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import sys
from functools import partial
from pathlib import Path
from typing import TextIO

import numpy as np  # noqa: F401  (these three are imported once, for all children)

from sojourn import _internal
from sojourn.errors import ScenarioError
from sojourn.executors import channel, processes
from sojourn.executors.frames import Sender
from sojourn.executors.messages import Failure, Heard, Refusal, Request, Value
from sojourn.external import hooks, inside  # noqa: F401
from sojourn.external.raised import cut

#: Characters of an error, beyond which nobody reads it.
_MOST_TOLD = 4000
#: Of C's `setvbuf`.
_LINE_BUFFERED = 1


def main() -> None:
    """Serves the socket whose descriptor is the first argument, with a note in the file that is the
    second, until its other end is closed.
    """
    _internal.end_with(os.getppid())
    requests, note = socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    library = ctypes.CDLL(None)
    _buffer_lines(library)
    while received := channel.received(requests):
        request, answers, printed = received
        child = os.fork()
        if not child:
            requests.close()
            _print_to(printed)
            _work(Sender(answers, request.key), note, request, library)
        os.close(answers)
        os.close(printed)
        _, status = os.waitpid(child, 0)
        requests.sendall(channel.STATUS.pack(status))


def _work(sender: Sender, note: Path, request: Request[object], library: ctypes.CDLL) -> None:
    """Does a request, in the child, which ends with it."""
    try:
        processes.within = sender.send
        _internal.end_with(os.getppid())
        _internal.keep_note_in(note)
        _limit_memory(request.memory)
        answer = _answer(request, sender)
        with processes.phase("printing"):
            _flush(library)
        sender.send(answer)
        os._exit(0)
    finally:
        os._exit(1)


def _answer(request: Request[object], sender: Sender) -> Value[object] | Refusal | Failure:
    listeners = {name: partial(_tell, sender, name) for name in request.heard}
    try:
        return Value(request.function(*request.args, **listeners))
    except ScenarioError as error:
        return Refusal(error.field, cut(error.message or str(error), _MOST_TOLD))
    except BaseException as error:
        told = str(error) if hasattr(error, "failed_at") else f"{type(error).__name__}: {error}"
        return Failure(cut(told, _MOST_TOLD), getattr(error, "failed_at", None))


def _tell(sender: Sender, name: str, *args: object) -> None:
    sender.send(Heard(name, args))


def _buffer_lines(library: ctypes.CDLL) -> None:
    """What is printed by Python and by C comes out by lines: who crashes has printed the others."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    library.setvbuf(ctypes.c_void_p.in_dll(library, "stdout"), None, _LINE_BUFFERED, 0)


def _print_to(descriptor: int) -> None:
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def _flush(library: ctypes.CDLL) -> None:
    """What has been printed and is no whole line."""
    stream: TextIO
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    library.fflush(None)


def _limit_memory(memory: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + memory
    _, allowed = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY:
        most = min(most, allowed)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
