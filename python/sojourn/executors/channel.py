"""The way of one piece of work to a worker process and of its answer back.

Each has pipes of its own, which end with it: what code from outside leaves behind reaches no other
piece of work.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from sojourn.executors import frames
from sojourn.executors.messages import Request
from sojourn.executors.output import Output
from sojourn.interruption import heard

#: How the child of a worker process has ended, as `os.waitpid` says it.
STATUS = struct.Struct("=i")
_LENGTH = struct.Struct("=Q")
#: How long a process that has closed its pipe may take to end, s.
_PATIENCE = 1.0


class Channel:
    """Of one piece of work, at the end of those who wait for it."""

    def __init__(self, worker: socket.socket) -> None:
        """Over the socket of a worker process."""
        self._worker = worker
        self.key = os.urandom(frames.SIZE)
        self._answers, answers_in = _pipe()
        printed, printed_in = _pipe()
        self._theirs = [answers_in, printed_in]
        self._ours = [self._answers, printed]
        self._receiver = frames.Receiver(self._answers, self.key)
        self._output = Output(printed)
        self._closed_at: float | None = None

    def ask(self, request: Request[Any]) -> None:
        """Hands it over to the worker process, with the other ends of the pipes."""
        body = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        socket.send_fds(self._worker, [_LENGTH.pack(len(body))], self._theirs)
        self._worker.sendall(body)
        self._close_theirs()

    def messages(self, patience: float) -> Iterator[object]:
        """What has come by now, after ``patience`` seconds at most; how the process that did the
        work has ended, as an ``int``, is the last.

        Raises:
            GarbledError: if something else came, or nothing can come any more.
            ConnectionError: if the worker process is gone.

        """
        ready = self._wait(patience)
        if not self._output.ended:
            self._output.take()
        yield from self._receive()
        if self._worker in ready:
            while not self._receiver.ended and self._holds():
                yield from self._receive()
            self._output.finish()
            yield self._status()
        elif self._closed_at and time.monotonic() - self._closed_at > _PATIENCE:
            raise frames.GarbledError

    def _wait(self, patience: float) -> list[object]:
        ended = (self._receiver.ended, self._output.ended)
        watched = [ours for ours, is_over in zip(self._ours, ended, strict=True) if not is_over]
        with heard():
            return list(wait([self._worker, *watched], patience))

    def _receive(self) -> Iterator[object]:
        if self._receiver.ended:
            return
        yield from self._receiver.messages()
        if self._receiver.ended:
            self._closed_at = time.monotonic()

    def _holds(self) -> bool:
        """Whether the pipe holds more."""
        return bool(wait([self._answers], 0))

    def _status(self) -> int:
        told = self._worker.recv(STATUS.size)
        if len(told) < STATUS.size:
            raise ConnectionError
        return int(STATUS.unpack(told)[0])

    def close(self) -> None:
        """Whoever still writes learns that nobody reads."""
        self._close_theirs()
        for descriptor in self._ours:
            os.close(descriptor)

    def _close_theirs(self) -> None:
        while self._theirs:
            os.close(self._theirs.pop())


def received(worker: socket.socket) -> tuple[Request[object], int, int] | None:
    """In a worker process: the next request, and where its answers and its prints go; nothing if
    nobody asks any more.
    """
    head, descriptors, _, _ = socket.recv_fds(worker, _LENGTH.size, 2)
    if not head:
        return None
    content = bytearray()
    while len(content) < _LENGTH.unpack(head)[0]:
        content += worker.recv(1 << 20)
    request: Request[object] = pickle.loads(content)
    answers, printed = descriptors
    return request, answers, printed


def _pipe() -> tuple[int, int]:
    """One that is read without waiting, and that holds as much as the system allows."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    with suppress(OSError):  # a user may have so much in all
        fcntl.fcntl(ours, fcntl.F_SETPIPE_SZ, 1 << 20)
    return ours, theirs
