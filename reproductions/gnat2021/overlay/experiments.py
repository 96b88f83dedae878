"""The experiments of section 3.4 and chapter 4: files, their runs, intervals to average over.

Intervals begin when the flows have had time to settle: ten seconds after they start and five after
a change, sooner where the report leaves less (4.7, 4.17, 4.22, 4.26, 4.27).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Phase:
    """An interval over which goodput is averaged, in seconds of the run."""

    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Run:
    """A run of an experiment's file."""

    name: str
    phases: Sequence[Phase]
    #: What it changes, by field of the scenario.
    changes: Mapping[str, Any] = field(default_factory=dict)
    #: A file of its own, which is not of the report: no optimum is computed for it.
    file: str = ""


@dataclass(frozen=True)
class Experiment:
    """A section of the chapter."""

    section: str
    #: In ``experiments/gnat2021``.
    file: str
    runs: Sequence[Run]
    #: Whether every flow is elastic, so that shares are the utility maximum.
    elastic: bool = True
    #: Whether which flows are on is held to the best set of them, found by enumeration.
    enumerated: bool = False

    def heading(self, run: Run) -> str:
        """What is written above a run; nothing above the only one."""
        return run.name or (self.file if len(self.runs) > 1 else "")


def _steady(begin: float, end: float) -> tuple[Phase, ...]:
    return (Phase("steady", begin, end),)


def _priority(flows: Sequence[int], value: float) -> dict[str, float]:
    return {f"flows.{flow}.service.priority": value for flow in flows}


def _controls(nodes: int, phases: Sequence[Phase]) -> list[Run]:
    """Path controllers with both controls, as the program has by default, and with Copa alone.

    Cubic keeps the links' buffers full, which takes longer than some deadlines.
    """
    copa = {f"topology.nodes.{node}.controls": ["copa"] for node in range(nodes)}
    return [Run("Cubic and Copa", phases), Run("Copa", phases, copa)]


def _rates(value: str, buffer: str) -> dict[str, Any]:
    rates = {f"topology.links.{link}.rate": value for link in range(3)}
    return rates | {f"topology.links.{link}.queue.limit": buffer for link in range(3)}


def _zombies(on: bool) -> dict[str, bool]:
    return {f"topology.nodes.{node}.zombies": on for node in range(3)}


def _intervals() -> list[Phase]:
    """The intervals of 4.14, 25 s each."""
    begins = range(10, 435, 25)
    return [Phase(str(number), at + 8, at + 25) for number, at in enumerate(begins, 1)]


def _forms() -> list[Run]:
    """Both forms of latency-aware multipath; in the mesh ways lead back to where packets were."""
    conditioned = {f"topology.nodes.{node}.multipath": "conditioned" for node in range(4)}
    steady, mesh = _steady(20, 60), "latency-multipath"
    return [
        Run("", steady),
        Run("conditioned", steady, conditioned),
        Run("mesh, source-based", steady, file=mesh),
        Run("mesh, conditioned", steady, conditioned, mesh),
    ]


#: 4.16: flows of each kind per pair, what each offers, and K.
_MESHES = (
    (25, "1 Mbit/s", 4e11),
    (50, "500 kbit/s", 2e11),
    (100, "250 kbit/s", 1e11),
    (200, "125 kbit/s", 5e10),
    (400, "62.5 kbit/s", 2.5e10),
)


def _mesh(each: int, rate: str, k: float) -> dict[str, Any]:
    """A run of 4.16."""
    changes: dict[str, Any] = {f"topology.nodes.{node}.k": k for node in range(12)}
    for flow in range(24):
        changes[f"flows.{flow}.count"] = each
        changes[f"flows.{flow}.traffic.rate"] = rate
    return changes


def _counts(count: int) -> dict[str, int]:
    """A run of 3.4: as many flows of each priority from each node."""
    return {f"flows.{flow}.count": count for flow in range(4)}


_THRASH = (
    Phase("all fit", 12, 20),
    Phase("slow", 26, 30),
    Phase("more flows", 46, 60),
    Phase("faster", 68, 80),
    Phase("slow again", 90, 110),
)
#: 4.26: the report's numbers where the published configuration has others.
_TIGHTER = {
    "topology.links.0.delay": "60 ms",
    **{f"flows.{flow}.service.deadline": "50 ms" for flow in range(2)},
}
_TRIAGE = (Phase("before", 15, 29), Phase("slow", 38, 50), Phase("after", 65, 78))
_FAST = _rates("50 Mbit/s", "250000 B")
_EQUAL = _priority([0], 8)

_ALL = (
    Experiment(
        "4.1",
        "jms-diro",
        [Run("", [Phase("first", 10, 40), Phase("competing", 50, 80), Phase("loss", 95, 120)])],
        elastic=False,
    ),
    Experiment(
        "4.7",
        "3-node-system",
        [Run("", [Phase("before", 15, 20), Phase("outage", 23, 30), Phase("after", 35, 50)])],
    ),
    Experiment(
        "4.8",
        "3-node-udp-perf",
        [
            Run("with zombies", _steady(30, 100)),
            Run("without zombies", _steady(30, 100), _zombies(False)),
        ],
    ),
    Experiment("4.9", "3-node-tcp-perf", [Run("", _steady(20, 60))]),
    Experiment("4.10", "3-node-perf", [Run("", _steady(20, 60))]),
    Experiment("4.11", "3-node-tcp-max", [Run("", _steady(20, 60))]),
    # Set-up and transfer times (``times``), and no goodput.
    Experiment("4.12", "3-node-short-tcp", [Run("", ())], elastic=False),
    Experiment("4.13", "3-node-tcp-large-num-flows", [Run("", _steady(20, 60))]),
    Experiment(
        "4.15",
        "y3-edge",
        [Run("", [Phase("first", 20, 55), Phase("middle", 60, 100), Phase("last", 105, 150)])],
    ),
    Experiment(
        "4.17",
        "3-node-system-lat",
        [Run("", [Phase("before", 15, 25), Phase("outage", 28, 35), Phase("after", 40, 60)])],
    ),
    Experiment(
        "4.19",
        "3-node-latency-routing",
        [
            Run("run 1", _steady(20, 60)),
            Run("run 2", _steady(20, 60), _priority([1, 3], 5)),
            Run("run 3", _steady(20, 60), _priority([0, 2], 5)),
        ],
    ),
    Experiment(
        "4.20",
        "3-node-smallhighprio",
        [Run("", [Phase("first", 20, 50), Phase("second", 60, 90)])],
    ),
    Experiment(
        "4.21",
        "3-node-util-vs-thruput",
        [
            Run("run 1", _steady(20, 60)),
            Run("run 2", _steady(20, 60), _FAST),
            Run("run 3", _steady(20, 60), _EQUAL),
            Run("run 4", _steady(20, 60), _EQUAL | _FAST),
        ],
    ),
    Experiment("4.14", "3-node-dynamics", [Run("", _intervals())]),
    Experiment(
        "4.16",
        "12enclave-concurrent-mixed",
        [
            Run("25 flows", _steady(20, 40)),
            *(
                Run(f"{2 * each} flows", _steady(20, 40), _mesh(each, rate, k))
                for each, rate, k in _MESHES
            ),
        ],
    ),
    Experiment("4.18", "4-node-system", _forms()),
    Experiment(
        "4.22",
        "4-node-strap",
        [Run("", [Phase("before", 25, 40), Phase("outage", 44, 50), Phase("after", 65, 90)])],
        elastic=False,
        enumerated=True,
    ),
    Experiment(
        "4.23",
        "3-node-960-flows",
        [Run("", [Phase("before", 22, 32), Phase("after", 50, 70)])],
        elastic=False,
    ),
    Experiment(
        "4.25",
        "3-node-flog",
        [Run("", [Phase("before", 30, 40), Phase("outage", 55, 70)])],
        elastic=False,
        enumerated=True,
    ),
    Experiment(
        "4.24",
        "4enclave_edge_big_flows",
        [Run("", [Phase("before", 25, 50), Phase("impaired", 60, 80)])],
        elastic=False,
    ),
    Experiment(
        "4.26",
        "3-node-loss-triage",
        [Run("configuration", _TRIAGE), Run("text", _TRIAGE, _TIGHTER)],
        elastic=False,
    ),
    Experiment("4.27", "3-node-latency-thrash", _controls(3, _THRASH), elastic=False),
    Experiment(
        "4.28",
        "3-node-thrash",
        [Run("", [Phase("6 Mbit/s", 40, 60), Phase("15 Mbit/s", 95, 120)])],
        elastic=False,
    ),
    Experiment("4.29", "6-node-thrash", [Run("", _steady(110, 150))], elastic=False),
    Experiment("4.30", "4-node-dist-triage", _controls(4, _steady(100, 130)), elastic=False),
    Experiment(
        "3.4",
        "tcp-proxy-scaling",
        [
            Run("6 flows", _steady(20, 60)),
            *(
                Run(f"{4 * count} flows", _steady(20, 60), _counts(count))
                for count in (25, 50, 75, 100, 125, 150, 175, 200, 225, 250)
            ),
        ],
    ),
)

EXPERIMENTS: Sequence[Experiment] = sorted(
    _ALL, key=lambda experiment: [int(number) for number in experiment.section.split(".")]
)
