"""What a run has recorded, before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sojourn.metrics.columns import Table
from sojourn.quantity import number


@dataclass
class Recorded:
    """A scenario and the columns of its run."""

    #: The canonical scenario.
    scenario: Mapping[str, Any]
    #: Columns as the core hands them out.
    tables: Mapping[str, Table]
    #: What was built: ``links`` (id, rate, overhead) and ``paths``, each flow's links by index.
    network: Mapping[str, Any]

    @cached_property
    def warmup(self) -> float:
        """Seconds at the beginning that no metric covers."""
        return number(self.scenario["warmup"])
