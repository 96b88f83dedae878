"""Interruptions (Ctrl-C) at the wrong moment: they wait. So do requests to end (SIGTERM) and the
loss of the terminal (SIGHUP) once a command listens.

Python raises :class:`KeyboardInterrupt` wherever the main thread is. Where that is in the middle of
what compiled code has called, it comes out as something else; in the middle of storing, results are
lost.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

Entered = TypeVar("Entered")
#: What ends a command in order, unless it is ignored.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DEFAULTS = (signal.default_int_handler, signal.SIG_DFL)


@dataclass
class _State:
    #: The number of the last signal; 0 if there was none.
    came: int = 0
    #: Whether it is to wait, and does.
    is_deferred: bool = False
    waits: bool = False


_state = _State()


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """The second one does not wait: whoever insists is heard."""
    _state.came = number
    if not _state.is_deferred or _state.waits:
        raise KeyboardInterrupt
    _state.waits = True


def listen() -> None:
    """Has :func:`came` know of interruptions from now on, unless they are ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) in _DEFAULTS:
            signal.signal(number, _interrupt)


def came() -> bool:
    """Whether there has been an interruption, whatever has been made of it."""
    return bool(_state.came)


def end() -> int:
    """Hears no more of them: there is nothing left to interrupt. The status of what they end."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    return 128 + (_state.came or signal.SIGINT)


@contextmanager
def deferred() -> Iterator[None]:
    """What goes on in here is interrupted only in :func:`heard`, or else at its end; not at all if
    it follows an interruption itself, or if interruptions are ignored. Only the main thread is ever
    interrupted.
    """
    before = signal.getsignal(signal.SIGINT)
    is_deaf = before in (None, signal.SIG_IGN)
    listens = any(signal.getsignal(number) is _interrupt for number in SIGNALS)
    if _state.is_deferred or (is_deaf and not listens) or not _is_main_thread():
        yield
        return
    if not is_deaf:
        signal.signal(signal.SIGINT, _interrupt)
    _state.is_deferred = True
    try:
        yield
    finally:
        waits, _state.waits, _state.is_deferred = _state.waits, False, False
        if not is_deaf:
            signal.signal(signal.SIGINT, before)
    if waits and not isinstance(sys.exception(), KeyboardInterrupt):
        raise KeyboardInterrupt


@contextmanager
def heard() -> Iterator[None]:
    """Where something is waited for, within what is deferred: interruptions are heard at once."""
    if not _state.is_deferred or not _is_main_thread():
        yield
        return
    _state.is_deferred = False
    try:
        if _state.waits:
            raise KeyboardInterrupt
        yield
    finally:
        _state.waits, _state.is_deferred = False, True


@contextmanager
def entire(context: AbstractContextManager[Entered]) -> Iterator[Entered]:
    """A context that is interrupted neither while it is entered nor while it is left."""
    with ExitStack() as stack:
        try:
            with deferred():
                entered = stack.enter_context(context)
            yield entered
        finally:
            with deferred():
                stack.close()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
