"""What a run gives to the program that asked for it: what was measured, figures, storage."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.backends import backend as called
from sojourn.backends import runs
from sojourn.engine import Progress
from sojourn.measured import Measured
from sojourn.metrics import checked
from sojourn.notebook import describe, html
from sojourn.scenario import Scenario, Source, load

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result(Measured):
    """One run."""

    @classmethod
    def of(cls, run: Measured) -> Result:
        """The same run, which can be drawn and stored as well."""
        made = cls(run.scenario, run.data, run.timing, run.record, run.origin, run.programs)
        return made.request(run.requested)

    def plot(self, name: str = "operating_point") -> Figure:
        """One of the figures of :data:`sojourn.figures.FIGURES` as a matplotlib figure."""
        from sojourn.figures import draw

        return draw(name, self)

    def save(self, directory: str | Path | None = None, *, force: bool = False) -> Path:
        """Stores the run as ``sojourn run`` does, below ``results/`` by default; where it went.

        Raises:
            ScenarioError: if the directory cannot be written, or holds something else and not
                ``force``.

        """
        from sojourn.store import run_directory
        from sojourn.store.place import PYTHON, claimed

        out = Path(directory) if directory is not None else None
        tenant = run_directory.tenant(self.scenario, self.origin)
        with claimed(tenant, out, warnings.warn, force=force, terms=PYTHON) as claim:
            run_directory.save(self, claim.work)
        return claim.directory

    def __repr__(self) -> str:
        return f"<sojourn.Result {describe(self)}>"

    def _repr_html_(self) -> str:
        return html(self)


def run(
    scenario: Scenario | Source,
    *,
    overrides: Iterable[str] = (),
    seed: int | None = None,
    metrics: Iterable[str] | None = None,
    progress: Progress | None = None,
    spool: Path | None = None,
    backend: str = "sim",
) -> Result:
    """Runs one scenario: a path to a TOML file, TOML text, a mapping or a loaded scenario.

    ``overrides`` are ``path=value`` with TOML values. ``metrics`` restricts the metrics to those
    named; ``harm_throughput_l4`` and ``harm_delay_l4`` are computed only if named. ``progress``
    is told the share that is done, several times per second. What the scenario's ``record`` asks
    for goes to a temporary directory, below ``spool`` if given, that lasts as long as the result.
    ``backend`` is what it runs on: ``"sim"``, ``"live"``, ``"kernel"`` or ``"kernel:6.12"``. The
    result's ``origin`` says which one, and of live runs how far they can be trusted: one that is
    invalid is warned of.

    Raises:
        RunError: if a kernel fails.
        ScenarioError: names the field, what was given and what is allowed.

    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario, overrides, seed)
    elif tuple(overrides) or seed is not None:
        raise TypeError("overrides and seed apply to a source, not to a loaded scenario")
    names = None if metrics is None else checked("metrics", metrics)
    return Result.of(runs.made(scenario, called(backend), names, warnings.warn, progress, spool))
