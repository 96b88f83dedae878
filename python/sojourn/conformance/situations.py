"""The scenarios in which the kernel's sources are replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
    #: Keys of the link back.
    reverse: Fields = field(default_factory=dict)

    def scenario(self, queue: Fields, flows: list[Document]) -> Document:
        """It with these flows, and with this instead of ``link``'s queue."""
        bottleneck = {"rate": f"{self.rate / 1e6:g} Mbit/s", **self.link, **queue}
        return {
            "duration": f"{self.seconds} s",
            "topology": {"kind": "dumbbell", "bottleneck": bottleneck, "reverse": self.reverse},
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


@dataclass(frozen=True)
class Mode:
    """What is set of Cake, in our keys and in the kernel's, on a path with flows."""

    path: Path
    flows: list[Document]
    ours: Mapping[str, Jsonable]
    theirs: Mapping[str, Jsonable]


#: At this rate a byte takes a whole number of nanoseconds, so that both clocks are the same.
_RATE, _BYTES = "8 Mbit/s", 1_000_000
_CLASSES: list[Document] = [
    {"cca": "cubic"},
    {"cca": "cubic", "dscp": "cs1"},
    {"transport": "udp", "traffic": {"kind": "cbr", "rate": "2.4 Mbit/s"}, "dscp": "ef"},
]
_HOSTS: list[Document] = [
    {"cca": "cubic", "from": name, "to": "server", "start": f"{index} s"}
    for index, name in enumerate(("a", "b", "b"))
]
#: To two hosts, each flow from a server of its own.
_INWARD: list[Document] = [
    {"cca": "cubic", "from": f"server {index}", "to": name, "start": f"{index} s"}
    for index, name in enumerate(("a", "b", "b"))
]
_DOWNLOAD: list[Document] = [{"cca": "cubic", "direction": "reverse"}]
#: Whose addresses a NAT hides, in our table and in the kernel's.
_OUT: Fields = {"masquerade": "source"}
_IN: Fields = {"masquerade": "destination"}
#: An uplink that the acknowledgments of a download fill.
_UPLINK: dict[str, Any] = {
    "rate": 0.25e6,
    "seconds": 20,
    "reverse": {"rate": "20 Mbit/s", "queue": "fq_codel", "loss": "0.1 %"},
}


def _shaped(
    told: str, flows: list[Document], ours: Fields, theirs: Fields, seconds: int = 20
) -> Mode:
    path = Path(f"shaped to {_RATE}, {told}", {}, seconds=seconds)
    return Mode(path, flows, {"bandwidth": _RATE, **ours}, {"base_rate64": _BYTES, **theirs})


def _behind_nat(told: str, flows: list[Document], ours: Fields, theirs: Fields) -> Mode:
    """Packets of 1500 B, a multiple of the quantum and of its half and third: the dither, which
    differs, decides no turn in this time.
    """
    own, their = {"overhead": "0 B", **ours}, {"overhead": 0, **theirs}
    return _shaped(f"no overhead, {told}", flows, own, their, seconds=10)


#: For Cake alone.
CAKE: Mapping[str, Mode] = {
    "three tins": _shaped(
        "a Cubic, a Cubic with CS1, and 2.4 Mbit/s of UDP with EF",
        _CLASSES,
        {"diffserv": "diffserv3"},
        {"diffserv_mode": 0},
    ),
    "four tins, washed": _shaped(
        "the flows of *three tins*",
        _CLASSES,
        {"diffserv": "diffserv4", "wash": True},
        {"diffserv_mode": 1, "wash": 1},
    ),
    "tins by weight": Mode(
        Path("unlimited, the same flows", {}, seconds=20),
        _CLASSES,
        {"diffserv": "diffserv8"},
        {"diffserv_mode": 2},
    ),
    "tins by precedence": Mode(
        Path("unlimited, the same flows", {}, seconds=20),
        _CLASSES,
        {"diffserv": "precedence"},
        {"diffserv_mode": 4},
    ),
    "ingress": _shaped(
        "the same flows, in ingress mode",
        _CLASSES,
        {"diffserv": "diffserv3", "ingress": True},
        {"diffserv_mode": 0, "ingress": 1},
    ),
    "ATM": _shaped(
        "a Reno over pppoe-llcsnap",
        [{"cca": "reno"}],
        {"overhead": "pppoe-llcsnap"},
        {"overhead": 40, "atm": 1},
    ),
    "PTM": _shaped(
        "a Reno over bridged-ptm with a tag",
        [{"cca": "reno"}],
        {"overhead": "bridged-ptm ether-vlan"},
        {"overhead": 26, "atm": 2},
    ),
    "hosts": Mode(
        Path("three Cubic of two hosts, dual-srchost", {}, seconds=20),
        _HOSTS,
        {"isolation": "dual-srchost"},
        {"flow_mode": 5},
    ),
    "pairs of hosts": Mode(
        Path("the same, a queue per pair of hosts", {}, seconds=20),
        _HOSTS,
        {"isolation": "hosts"},
        {"flow_mode": 3},
    ),
    "NAT": _behind_nat(
        "three Cubic of two hosts behind a NAT, dual-srchost",
        _HOSTS,
        {"isolation": "dual-srchost", **_OUT},
        {"flow_mode": 5, **_OUT},
    ),
    "NAT, looked up": _behind_nat(
        "the same with `nat`",
        _HOSTS,
        {"isolation": "dual-srchost", "nat": True, **_OUT},
        {"flow_mode": 5, "nat": 1, **_OUT},
    ),
    "NAT on the way in": _behind_nat(
        "three Cubic of three servers to two hosts behind a NAT, triple-isolate",
        _INWARD,
        {"isolation": "triple-isolate", **_IN},
        {"flow_mode": 7, **_IN},
    ),
    "NAT on the way in, looked up": _behind_nat(
        "the same with `nat`",
        _INWARD,
        {"isolation": "triple-isolate", "nat": True, **_IN},
        {"flow_mode": 7, "nat": 1, **_IN},
    ),
    "ACK filter": Mode(
        Path("an uplink of 0.25 Mbit/s, filled by the ACKs of a download", {}, **_UPLINK),
        _DOWNLOAD,
        {"ack_filter": "ack-filter"},
        {"ack_filter": 1},
    ),
    "aggressive ACK filter": Mode(
        Path("the same, with classic ECN", {}, flow={"ecn": "classic"}, **_UPLINK),
        _DOWNLOAD,
        {"ack_filter": "ack-filter-aggressive"},
        {"ack_filter": 2},
    ),
}


def of_control(path: Path, cca: str | Fields) -> Document:
    """One flow with this control."""
    return path.scenario({}, [{"cca": cca}])
