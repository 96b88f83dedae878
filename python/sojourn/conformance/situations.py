"""The scenarios in which the kernel's sources are replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sojourn.json_types import Fields, Jsonable
from sojourn.scenario import Document

_OUTAGE: Jsonable = {
    "kind": "steps",
    "steps": [{"at": "10 s", "value": "100 %"}, {"at": "12 s", "value": "0 %"}],
}
_MARKING = {"kind": "codel", "ce_threshold": "3 ms", "ecn": True}


@dataclass(frozen=True)
class Path:
    """A bottleneck and what is said of it on the page."""

    told: str
    #: Keys of the bottleneck but for its rate and, of a discipline's, its queue.
    link: Fields
    rate: float = 20e6
    rtt: str = "40 ms"
    seconds: int = 30
    #: Keys of every flow.
    flow: Fields = field(default_factory=dict)

    def scenario(self, queue: Fields, flows: list[Document]) -> Document:
        """It with these flows, and with this instead of ``link``'s queue."""
        bottleneck = {"rate": f"{self.rate / 1e6:g} Mbit/s", **self.link, **queue}
        return {
            "duration": f"{self.seconds} s",
            "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
            "flows": [{"rtt": self.rtt, **self.flow, **flow} for flow in flows],
        }


def _fifo(limit: str, **link: Jsonable) -> Document:
    return {"queue": {"kind": "fifo", "limit": limit}, **link}


#: For one flow.
CONTROLS: Mapping[str, Path] = {
    "deep buffer": Path("a FIFO of 4 BDP", _fifo("4 bdp")),
    "shallow buffer": Path("a FIFO of half a BDP", _fifo("0.5 bdp")),
    "loss": Path("a FIFO of 1 BDP, 1 % random loss", _fifo("1 bdp", loss="1 %")),
    "timeout": Path(
        "a FIFO of 1 BDP, all lost for 2 s", _fifo("1 bdp", loss_schedule=_OUTAGE), seconds=20
    ),
    "slow and long": Path(
        "4 Mbit/s, 160 ms, a FIFO of 2 BDP, 0.1 % random loss",
        _fifo("2 bdp", loss="0.1 %"),
        rate=4e6,
        rtt="160 ms",
        seconds=60,
    ),
    "ECN": Path(
        "CoDel that marks, classic ECN",
        {"queue": {"kind": "codel", "ecn": True}},
        flow={"ecn": "classic"},
    ),
}
#: For one flow of a control that needs marks.
MARKS: Mapping[str, Path] = {
    "marks": Path("all marked above 3 ms", {"queue": _MARKING}),
    "marks and loss": Path(
        "all marked above 3 ms, 0.1 % random loss", {"queue": _MARKING, "loss": "0.1 %"}
    ),
    "marks, slow and long": Path(
        "4 Mbit/s, 160 ms, all marked above 30 ms",
        {"queue": _MARKING | {"ce_threshold": "30 ms"}},
        rate=4e6,
        rtt="160 ms",
        seconds=60,
    ),
}

_THREE = [{"cca": "cubic", "start": f"{index} s"} for index in range(3)]
_BLAST = {
    "transport": "udp",
    "traffic": {"kind": "cbr", "rate": "25 Mbit/s"},
    "start": "5 s",
    "stop": "10 s",
}
#: For a discipline: whether it marks, its path and the flows.
TRAFFIC: Mapping[str, tuple[bool, Path, list[Document]]] = {
    "three flows": (False, Path("three Cubic, a second apart", {}, seconds=20), _THREE),
    "three flows, ECN": (
        True,
        Path("the same with classic ECN", {}, seconds=20, flow={"ecn": "classic"}),
        _THREE,
    ),
    "overload": (
        False,
        Path("a Reno, and 25 Mbit/s of UDP for 5 s", {}, seconds=20),
        [{"cca": "reno"}, _BLAST],
    ),
    "slow and long": (
        False,
        Path(
            "4 Mbit/s, 100 ms, 0.1 % random loss, a Reno and a Cubic",
            {"loss": "0.1 %"},
            rate=4e6,
            rtt="100 ms",
            seconds=40,
        ),
        [{"cca": "reno"}, {"cca": "cubic", "start": "1 s"}],
    ),
}


def of_control(path: Path, cca: str | Fields) -> Document:
    """One flow with this control."""
    return path.scenario({}, [{"cca": cca}])
