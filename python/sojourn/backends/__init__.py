"""Backends: what a scenario is run on. One file each, behind one protocol."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from sojourn import literal
from sojourn.engine import Progress
from sojourn.errors import ScenarioError
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.origin import Origin
from sojourn.scenario import Document, Scenario

#: Each backend by its name, with its module.
NAMES = {name: f"sojourn.backends.{name}" for name in ("sim", "live", "kernel", "overlay")}


class Backend(Protocol):
    """Runs scenarios."""

    @property
    def name(self) -> str:
        """What stands for this very one, here and on other machines."""

    @property
    def side_by_side(self) -> bool:
        """Whether several runs may go on at a time."""

    def runs_of(self, scenario: Scenario, count: int) -> list[Scenario]:
        """The scenarios of so many independent runs."""

    def check(self, canonical: Document) -> None:
        """Refuses what it lacks, as far as that can be told before a run.

        Raises:
            ScenarioError: names the field, and what there is.

        """

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        repetition: int = 0,
        spool: Path | None = None,
    ) -> Measured:
        """Runs a scenario. What it records meanwhile is below ``spool``, if given.

        Raises:
            ScenarioError: if the scenario, or the machine, does not allow it.

        """

    def measure(
        self, canonical: Document, progress: Progress | None = None, spool: Path | None = None
    ) -> tuple[RunData, dict[str, float]]:
        """Makes one of many runs, of which nothing is recorded: what it measured, and its timing
        (:attr:`sojourn.measured.Measured.timing`). ``spool`` is the directory of their results.

        Raises:
            RunError: if it fails, or cannot be trusted.
            ScenarioError: as :meth:`run`.
            LackError: if the machine cannot make its runs.

        """

    def alone(self, canonical: Document) -> Alone:
        """Runs some flows by themselves over the same network."""

    def key(self, repetition: int = 0) -> Origin | None:
        """What tells a run of its from those of others; nothing of the simulator's."""


def is_known(name: str) -> bool:
    """Whether a backend may be called so; of kernels, what follows a colon says which."""
    kind, colon, wanted = name.partition(":")
    return kind in NAMES and (not colon or (kind == "kernel" and bool(wanted)))


def backend(name: str) -> Backend:
    """The backend called ``name``; what follows a colon says which kernel.

    Raises:
        ScenarioError: if there is none.

    """
    if not is_known(name):
        has = ", ".join(NAMES)
        raise ScenarioError(f"backend: {literal.given(name)} given; allowed: {has}, kernel:VERSION")
    kind, _, wanted = name.partition(":")
    module = import_module(NAMES[kind])
    return cast(Backend, module.On(wanted) if kind == "kernel" else module)
