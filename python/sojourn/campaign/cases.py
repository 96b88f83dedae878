"""What a campaign does once, stores, and measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from sojourn import outcome
from sojourn.external import inside
from sojourn.json_types import Json
from sojourn.scenario import Document

#: One run's metrics, as ``sojourn run --format json`` prints them.
Outcome = outcome.Outcome


@dataclass(frozen=True)
class Case:
    """One run, of which the metrics are asked for: it comes to an :data:`Outcome`. Two cases with
    the same canonical scenario are the same run.
    """

    text: str
    #: The name of what runs it.
    backend: str = "sim"

    @classmethod
    def of(cls, canonical: Document, backend: str = "sim") -> Self:
        """The case of a canonical scenario."""
        return cls(json.dumps(canonical, sort_keys=True), backend)

    @cached_property
    def canonical(self) -> Document:
        """The canonical scenario."""
        return dict(json.loads(self.text))

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.canonical["name"])


@dataclass(frozen=True)
class Sampled(Case):
    """One run, of which the samples are asked for: it comes to a ``RunData``."""

    #: The columns of the flows' samples that are kept; all if none is named.
    keeps: tuple[str, ...] = ()

    @classmethod
    def of(cls, canonical: Document, backend: str = "sim", *, keeps: tuple[str, ...] = ()) -> Self:
        """The case of a canonical scenario."""
        return cls(json.dumps(canonical, sort_keys=True), backend, keeps)


@dataclass(frozen=True)
class Computed:
    """What a function of a module comes to, as JSON has it: a model in slots, a linear program."""

    by: Callable[..., object]
    #: What it is called with, by the names of its parameters.
    text: str
    #: Whether it is done beside nothing else: it measures time.
    alone: bool = False

    @classmethod
    def of(cls, by: Callable[..., object], *, alone: bool = False, **given: object) -> Self:
        """The case of a function and what it is given."""
        return cls(by, json.dumps(given, sort_keys=True), alone)

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"{self.by.__module__}.{self.by.__qualname__}"

    @property
    def given(self) -> Document:
        """What it is called with."""
        return dict(json.loads(self.text))

    def result(self, given: Document, classes: Mapping[str, bytes]) -> Json:
        """What it comes to, called with what it is given as that is found on this machine, and with
        these classes of a notebook: the same whether it was stored meanwhile or not.
        """
        inside.take(classes)
        told: Json = json.loads(json.dumps(self.by(**given)))
        return told


@dataclass(frozen=True)
class Attempted(Computed):
    """One that may fail, which is a result as well: it comes to ``{"value": ...}``, or if the
    function raises a ``RunError`` to ``{"error": why}``. One that was lost is not stored.
    """


#: What is done once, stored, and measured.
AnyCase = Case | Computed
#: What is stored of a case by its key: a run's metrics, or what a function came to.
Told = Outcome | Json
#: What cases came to; samples are read as they are asked for. Who asks has made the case, and knows
#: its kind and what its function returns.
Results = Mapping[AnyCase, Any]
