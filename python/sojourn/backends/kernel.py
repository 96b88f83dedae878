"""A kernel in virtual time: real connections over the simulated network. Its runs differ by seed.

``kernel`` is the latest kernel that has been built, ``kernel:6.12`` the latest of that series.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sojourn import _internal
from sojourn.backends import lacking, programs, sim
from sojourn.backends.external import refuse
from sojourn.engine import Progress
from sojourn.errors import RunError, ScenarioError
from sojourn.executors.threads import go_on
from sojourn.kernel.build import recipe
from sojourn.kernel.cache import Kernel, kernel
from sojourn.kernel.guest import init
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.samples import Alone
from sojourn.origin import Origin
from sojourn.record import Add, recorded
from sojourn.scenario import Document, Scenario, expanded_flows, validated


class On:
    """The backend: the latest kernel of a version, or of all."""

    def __init__(self, wanted: str = "") -> None:
        """Takes it.

        Raises:
            ScenarioError: if there is none, or it was built otherwise than it would be now.

        """
        self._kernel = kernel(wanted)
        if self._kernel.recipe != recipe(self._kernel.hz):
            raise ScenarioError(
                f"backend: kernel {self._kernel.name} was built by another version of Sojourn; to "
                f"build it anew: sojourn kernel build SOURCE --hz {self._kernel.hz}"
            )

    #: It takes no time but virtual time.
    side_by_side = True

    @property
    def name(self) -> str:
        """With its version and ticks."""
        return f"kernel:{self._kernel.name}"

    @property
    def program(self) -> Path:
        """The kernel."""
        return self._kernel.program

    def runs_of(self, scenario: Scenario, count: int) -> list[Scenario]:
        """The scenario with its seed, and those that follow."""
        return sim.runs_of(scenario, count)

    def check(self, canonical: Document) -> None:
        """Begins a run and leaves it: what the kernel lacks is refused at once.

        Raises:
            ScenarioError: naming the field, and what the kernel has.
            LackError: if the machine lacks what sets its routers up.

        """
        refuse(canonical)
        if canonical.get("programs"):
            programs.check(canonical, self._kernel)  # that begins no programs
        else:
            lacking.ask(self.name, canonical, self.measure)

    def run(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        repetition: int = 0,
        spool: Path | None = None,
    ) -> Measured:
        """Runs a scenario; every repetition gives the same.

        Raises:
            RunError: if the kernel fails, with its last words, or a program of the scenario.
            ScenarioError: if it asks for what the kernel does not have.

        """
        canonical, on = scenario.canonical, self._kernel
        refuse(canonical)
        if canonical.get("programs"):
            return programs.succeeded(scenario, self.asked(progress, spool))
        made, record = recorded(canonical, spool, lambda add: _run(canonical, on, progress, add))
        return Measured(scenario, *made, record, self.key())

    def measure(
        self, canonical: Document, progress: Progress | None = None, spool: Path | None = None
    ) -> tuple[RunData, dict[str, float]]:
        """Runs a canonical scenario; raises as :meth:`run`."""
        refuse(canonical)
        if canonical.get("programs"):
            return programs.measure(canonical, self.asked(progress, spool))
        return _run(canonical, self._kernel, progress)

    def asked(self, progress: Progress | None = None, spool: Path | None = None) -> programs.Asked:
        """How programs are run on it."""
        return programs.Asked(self._kernel, self.key(), progress, spool)

    def alone(self, canonical: Document) -> Alone:
        """Runs some flows by themselves over the same network."""
        return programs.alone if canonical.get("programs") else _alone(canonical, self._kernel)

    def key(self, repetition: int = 0) -> Origin:
        """What tells a run from those on other kernels; repetitions are alike."""
        made = self._kernel
        return {
            "backend": "kernel",
            "kernel": made.version,
            "hz": made.hz,
            "build": made.digest,
        }


def _run(
    canonical: Document, chosen: Kernel, progress: Progress | None, record: Add | None = None
) -> tuple[RunData, dict[str, float]]:
    began = time.perf_counter()
    try:
        with lacking.told():
            outcome = _internal.run_kernel(
                json.dumps(canonical), str(chosen.program), init(), progress or go_on, record
            )
    except RuntimeError as error:
        raise RunError(str(error)) from None
    wall = time.perf_counter() - began
    totals, network = outcome.pop("totals"), json.loads(outcome.pop("network"))
    timing = {name: float(value) for name, value in totals.items()} | {"wall_seconds": wall}
    return RunData(canonical, outcome, network, _alone(canonical, chosen)), timing


def _alone(canonical: Document, chosen: Kernel) -> Alone:
    """Runs some flows by themselves over the same network."""

    @cache
    def run(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
        every = expanded_flows(canonical)
        those = [every[place] for place in flows]
        apart = validated({**canonical, "flows": those, "arrivals": []})
        return _run(apart.canonical, chosen, None)[0], range(len(flows))

    return run
