"""Interruptions (Ctrl-C) at the wrong moment: they wait.

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


@dataclass
class _State:
    #: Whether there has been one.
    came: bool = False
    #: Whether it is to wait, and does.
    is_deferred: bool = False
    waits: bool = False


_state = _State()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """The second one does not wait: whoever insists is heard."""
    _state.came = True
    if not _state.is_deferred or _state.waits:
        raise KeyboardInterrupt
    _state.waits = True


def listen() -> None:
    """Has :func:`came` know of interruptions from now on, unless they are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def came() -> bool:
    """Whether there has been an interruption, whatever has been made of it."""
    return _state.came


@contextmanager
def deferred() -> Iterator[None]:
    """What goes on in here is interrupted only in :func:`heard`, or else at its end; not at all if
    it follows an interruption itself, or if interruptions are ignored. Only the main thread is ever
    interrupted.
    """
    before = signal.getsignal(signal.SIGINT)
    is_deaf = before in (None, signal.SIG_IGN)
    if _state.is_deferred or is_deaf or not _is_main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    _state.is_deferred = True
    try:
        yield
    finally:
        waits, _state.waits, _state.is_deferred = _state.waits, False, False
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
