"""Names that the command line is given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from sojourn.errors import ScenarioError
from sojourn.names import unknown

if TYPE_CHECKING:
    from click import Context


class Name(click.Choice[str]):
    """One of several names; the nearest one is suggested for another."""

    def __init__(self, what: str, names: Sequence[str]) -> None:
        super().__init__(names)
        self._what = what

    def get_invalid_choice_message(self, value: object, ctx: Context | None) -> str:
        """What is said of a name that is none of them."""
        return unknown(self._what, str(value), list(map(str, self.choices)))


def checked_metrics(option: str, given: Iterable[str]) -> list[str]:
    """The names of metrics, each entry one or several with commas; an error with the nearest one
    where there is no such metric.
    """
    from sojourn.metrics import checked

    return checked(option, _names(given))


def recorded(option: str, given: Iterable[str]) -> tuple[str, ...]:
    """What is to be recorded, as an override, if anything; an error where there is no such kind."""
    from sojourn.record import KINDS

    kinds = _names(given)
    for kind in kinds:
        if kind not in KINDS:
            raise ScenarioError(f"{option}: {unknown('kind of record', kind, list(KINDS))}")
    return (f"record={json.dumps(kinds)}",) if kinds else ()


def _names(given: Iterable[str]) -> list[str]:
    """Names, each entry one or several with commas."""
    return [name.strip() for entry in given for name in entry.split(",") if name.strip()]
