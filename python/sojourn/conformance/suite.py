"""The checks of each kind, and the members that are known not to meet some."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

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
def _core() -> tuple[Mapping[str, list[Check]], Mapping[tuple[str, str], str]]:
    """The checks by kind, and the exceptions."""
    told = json.loads(_internal.conformance_suites())
    reasons = {(e["check"], e["name"]): e["reason"] for e in told.pop("exceptions")}
    return {kind: [Check(**check) for check in checks] for kind, checks in told.items()}, reasons


def suite(kind: str) -> list[Check]:
    """The checks of a kind of the catalogue, such as ``ccas``."""
    return list(_core()[0][kind])


def kinds() -> list[str]:
    """The kinds that have a suite."""
    return list(_core()[0])


def exceptions() -> dict[tuple[str, str], str]:
    """Why, by check and name: controls that are known not to meet a check."""
    return dict(_core()[1])
