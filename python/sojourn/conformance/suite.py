"""The checks of each kind, and the members that are known not to meet some."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sojourn import _internal


@dataclass(frozen=True)
class Check:
    """A requirement."""

    name: str
    #: What is measured and what is required.
    legend: str
    #: Bounds of the value; ``None``: unbounded.
    least: float | None
    most: float | None

    def holds(self, value: float) -> bool:
        """Whether a value meets it."""
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        return least <= value <= most


@cache
def _core() -> Mapping[str, Any]:
    told: dict[str, Any] = json.loads(_internal.conformance_suites())
    return told


def suite(kind: str) -> list[Check]:
    """The checks of a kind of the catalogue, such as ``ccas``."""
    return [Check(**check) for check in _core()[kind]]


def kinds() -> list[str]:
    """The kinds that have a suite."""
    return [kind for kind in _core() if kind != "exceptions"]


def exceptions() -> dict[tuple[str, str], str]:
    """Why, by check and name: controls that are known not to meet a check."""
    return {(e["check"], e["name"]): e["reason"] for e in _core()["exceptions"]}
