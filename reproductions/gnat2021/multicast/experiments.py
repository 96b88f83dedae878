"""The experiments of sections 4.2 to 4.6: their scenarios, and intervals to average over.

Intervals begin ten seconds after the flows start, 12 in 4.3, where the report has them settle by
then, 20 in 4.4, and three after a change. Those of 4.5 and 4.6 began 20 s after the start until 4.6
had missed so (card).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from sojourn import data
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, apply_override, read, set_path, validated
from sojourn_reproductions.gnat2021.multicast import webs
from sojourn_reproductions.gnat2021.overlay.experiments import Phase


@dataclass(frozen=True)
class Run:
    """A run of an experiment."""

    name: str
    phases: Sequence[Phase]
    make: Callable[[], Document]
    #: Whether what is best is computed: not of the baseline.
    with_best: bool = True
    #: Rows are the means of all streams to all receivers, not one of each.
    together: bool = False
    #: What the report's values call it, if not by its name.
    reported: str = ""

    def __hash__(self) -> int:
        return hash((self.name, self.make))


@dataclass(frozen=True)
class Experiment:
    """A section."""

    section: str
    title: str
    runs: Sequence[Run]


def _file(name: str, **changes: object) -> Document:
    scenario = read(data.path(f"experiments/gnat2021/{name}.toml"))
    for field, value in changes.items():
        set_path(scenario, field, value)
    return scenario


def _without_relief() -> Document:
    scenario = _file("9enclave-mcast-asap")
    for node in scenario["topology"]["nodes"]:
        node["anti_starvation"] = False
    return scenario


def _small(*, near: bool) -> Document:
    name = f"gnat2021-34-node-dist-sim-{'near' if near else 'all'}"
    joined = [*webs.links(webs.SMALL)]
    return webs.document(
        name, webs.SMALL, joined, senders=1, rate="50 Mbit/s", seconds=60, near=near
    )


#: How the rings of 4.6 are joined: turned against each other, and so that neighbours part.
VARIANTS = {"web": (0, False), "turned": (1, False), "spread": (0, True)}


def _large(variant: str, *, tree: bool) -> Document:
    shift, spread = VARIANTS[variant]
    name = f"gnat2021-118-node-dist-sim-{variant}{'-tree' if tree else ''}"
    joined = [*webs.links(webs.LARGE, shift, spread=spread)]
    return webs.document(
        name,
        webs.LARGE,
        joined,
        senders=3,
        rate="25 Mbit/s",
        seconds=45,
        tree=tree,
        search=webs.ALL,
    )


_STEADY = (Phase("steady", 20, 60),)
_LARGE = (Phase("steady", 20, 45),)

EXPERIMENTS: Sequence[Experiment] = (
    Experiment(
        "4.2",
        "6enclave_mcast_1grp",
        [Run("", [Phase("steady", 20, 70)], partial(_file, "6enclave-mcast-1grp"))],
    ),
    Experiment(
        "4.3",
        "10enclave_mcast_5grp",
        [
            Run(
                "",
                [
                    Phase("first", 22, 40),
                    Phase("second", 43, 50),
                    Phase("third", 53, 60),
                    Phase("last", 63, 70),
                ],
                partial(_file, "10enclave-mcast-5grp"),
            )
        ],
    ),
    Experiment(
        "4.4",
        "9enclave_mcast_asap",
        [
            Run("without ASAP", [Phase("steady", 30, 70)], _without_relief),
            Run("with ASAP", [Phase("steady", 30, 70)], partial(_file, "9enclave-mcast-asap")),
        ],
    ),
    Experiment(
        "4.5",
        "34_node_dist_sim",
        [
            Run("all", _STEADY, partial(_small, near=False), together=True),
            Run("near", _STEADY, partial(_small, near=True), together=True),
        ],
    ),
    Experiment(
        "4.6",
        "118_node_dist_sim",
        [
            Run(
                f"{variant}{' tree' if tree else ''}",
                _LARGE,
                partial(_large, variant, tree=tree),
                with_best=not tree,
                together=True,
                reported="tree" if tree else "overlay",
            )
            for variant in VARIANTS
            for tree in (True, False)
        ],
    ),
)


def document(run: Run, request: Request) -> Document:
    """The canonical scenario of a run."""
    return _canonical(run.make, tuple(request.overrides))


@cache
def _canonical(make: Callable[[], Document], overrides: Sequence[str]) -> Document:
    scenario = make()
    for override in overrides:
        apply_override(scenario, override)
    return validated(scenario).canonical
