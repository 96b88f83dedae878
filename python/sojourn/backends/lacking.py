"""What a kernel lacks of what a scenario asks for, and the machine of what any run on it needs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sojourn.engine import Progress
from sojourn.errors import LackError, RunError, ScenarioError
from sojourn.quantity import number
from sojourn.scenario import Document

#: Fields of errors that are no scenario's: permissions and devices; the program tc(8).
_MACHINE = ("backend", "queue")


class _LeftError(Exception):
    """A run has begun: nothing of it is refused."""


#: The names of kernels, with what they have been asked for and have.
_accepted: set[tuple[str, str]] = set()


def ask(kernel: str, canonical: Document, run: Callable[[Document, Progress], object]) -> None:
    """Begins a run and leaves it, unless the kernel has begun one that asks for the same.

    Raises:
        ScenarioError: naming the field, and what the kernel has.
        LackError: naming what the machine lacks.

    """
    asked = (kernel, _asked(canonical))
    if asked not in _accepted:
        with suppress(_LeftError, RunError, RuntimeError):  # of one that fails, its runs will tell
            run(canonical, _leave)
        _accepted.add(asked)


def _leave(share: float) -> None:
    if share > 0:
        raise _LeftError


def _asked(canonical: Document) -> str:
    """A scenario without its seed and its quantities, which nobody refuses: grids of rates and
    delays ask for the same. Those of controls are the kernel's own, and others are refused.
    """
    return json.dumps(_plain({**canonical, "seed": None}), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: of if name == "cca" else _plain(of) for name, of in value.items()}
    if isinstance(value, list):
        return [_plain(of) for of in value]
    return None if isinstance(value, str) and not math.isnan(number(value)) else value


@contextmanager
def told() -> Iterator[None]:
    """Tells what the machine lacks from what is wrong with a scenario.

    Raises:
        LackError: for an error of the core that names no field of a scenario.

    """
    try:
        yield
    except ScenarioError as error:
        if error.field not in _MACHINE:
            raise
        lack = LackError(str(error))
        lack.field, lack.message = error.field, error.message
        raise lack from None
