"""What goes to a worker process and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NoReturn

from sojourn.errors import RunError, refused
from sojourn.executors import Done


@dataclass(frozen=True)
class Request(Generic[Done]):
    """A piece of work on its way to a worker process."""

    function: Callable[..., Done]
    args: tuple[object, ...]
    #: The further keywords of the function, which tell the other side what they are called with.
    heard: tuple[str, ...]
    #: Bytes on top of what the worker has when it begins.
    memory: int
    #: By which what its process says is known from whatever else it writes.
    key: bytes


@dataclass(frozen=True)
class Phase:
    """What begins that may take as long as a callback; nothing, where that has ended."""

    name: str


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
