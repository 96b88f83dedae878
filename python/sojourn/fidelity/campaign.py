"""The campaign: every start of every cell on the simulator and on the kernel, then judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.backends import backend
from sojourn.campaign.cases import Case
from sojourn.campaign.run import Progress, run
from sojourn.errors import ScenarioError
from sojourn.executors import Executor, threads
from sojourn.fidelity.asked import Asked
from sojourn.fidelity.draw import Cell, cells
from sojourn.fidelity.goals import goal
from sojourn.fidelity.judge import Judged, judged
from sojourn.kernel.cache import kernels
from sojourn.scenario import load

#: The kernel whose TCP the simulator's ``linux-6`` is, and its ticks per second.
VERSION, HZ = "6.12", 1000


def reference() -> str:
    """The backend that is compared with.

    Raises:
        ScenarioError: if that kernel is not built, or was built otherwise.

    """
    for one in kernels():
        if one.hz == HZ and f"{one.version}.".startswith(f"{VERSION}."):
            return backend(f"kernel:{one.name}").name
    raise ScenarioError(
        f"no kernel {VERSION} with {HZ} Hz is built; to build it: "
        f"sojourn kernel build linux-source-{VERSION} --hz {HZ}"
    )


def campaign(
    asked: Asked,
    reference: str,
    out: Path,
    jobs: int,
    progress: Progress,
    execute: Executor = threads.execute,
) -> list[Judged]:
    """All cells that are asked for, judged. Their runs are stored in ``out`` and not made again."""
    drawn = [(cell, _cases(cell, "sim"), _cases(cell, reference)) for cell in cells(asked)]
    every = [case for _, *sides in drawn for side in sides for case in side]
    told = run(list(dict.fromkeys(every)), out, jobs, progress, execute)
    return [
        judged(cell, goal(asked, cell), *([told[case] for case in side] for side in sides))
        for cell, *sides in drawn
    ]


def _cases(cell: Cell, name: str) -> Sequence[Case]:
    return [Case.of(load(start).canonical, name) for start in cell.starts]
