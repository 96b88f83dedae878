"""Backends: what a scenario is run on. One file each, behind one protocol."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from sojourn.engine import Progress
from sojourn.measured import Measured
from sojourn.scenario import Scenario

#: Names of the backends, each a module of this package.
NAMES = ("sim", "live", "kernel")


class Backend(Protocol):
    """Runs scenarios."""

    def runs_of(self, scenario: Scenario, count: int) -> list[Scenario]:
        """The scenarios of so many independent runs."""

    def run(
        self, scenario: Scenario, progress: Progress | None = None, repetition: int = 0
    ) -> Measured:
        """Runs a scenario.

        Raises:
            ScenarioError: if the scenario, or the machine, does not allow it.

        """

    def key(self, repetition: int = 0) -> dict[str, Any] | None:
        """What tells a run of its from those of others; nothing of the simulator's."""


def backend(name: str) -> Backend:
    """The backend called ``name``; what follows a colon says which kernel."""
    kind, _, wanted = name.partition(":")
    module = import_module(f"sojourn.backends.{kind}")
    return cast(Backend, module.On(wanted) if kind == "kernel" else module)
