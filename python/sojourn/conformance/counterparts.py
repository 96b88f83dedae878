"""Which of our controls and disciplines stands beside which of the kernel's sources."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import replace

from sojourn.conformance.situations import CAKE, TRAFFIC, Mode
from sojourn.json_types import Jsonable

#: The kernel's controls, by their sources' names without ``tcp_``; ``None``: we have none.
CONTROLS: Mapping[str, str | None] = {
    "bic": "bic",
    "cubic": "cubic",
    "westwood": "westwood",
    "highspeed": "highspeed",
    "hybla": "hybla",
    "htcp": "htcp",
    "vegas": "vegas",
    "nv": None,
    "scalable": "scalable",
    "lp": None,
    "veno": "veno",
    "yeah": "yeah",
    "illinois": "illinois",
    "dctcp": "dctcp",
    "cdg": None,
    "bbr": "bbr",
}
#: The kernel's disciplines, by their sources' names without ``sch_``, which are ours as well.
DISCIPLINES = ("codel", "fq_codel", "pie", "fq_pie", "red", "cake", "fq", "dualpi2")

_RED = {"limit": 400_000, "min": 30_000, "max": 90_000, "average": 1000, "probability": 0.02}


#: What stands for a kernel's version where ours know several.
_VERSIONS: Mapping[str, str] = {"6.1": "linux-5.1", "6.12": "linux-6"}


def modes(name: str, version: str) -> Mapping[str, Mode]:
    """What is replayed of a discipline of :data:`DISCIPLINES`, beside a kernel of this version."""
    found = {
        situation: Mode(path, flows, *_alike(name, ecn, path.rate, version))
        for situation, (ecn, path, flows) in TRAFFIC.items()
    }
    if name == "cake":
        ours, theirs = _alike(name, False, 0.0, version)
        found |= {
            situation: replace(mode, ours={**ours, **mode.ours}, theirs={**theirs, **mode.theirs})
            for situation, mode in CAKE.items()
        }
    return found


def _alike(
    name: str, ecn: bool, rate: float, version: str
) -> tuple[Mapping[str, Jsonable], Mapping[str, Jsonable]]:
    """The tables of our discipline and of the kernel's, set alike; ``rate``, in bit/s, is the
    link's.
    """
    if name == "red":
        ours: Mapping[str, Jsonable] = {
            "limit": "400 kB",
            "min": "30 kB",
            "max": "90 kB",
            "ecn": ecn,
        }
        return ours, _red(ecn, rate)
    own = {"version": _VERSIONS[version]}
    if name == "cake":
        theirs = {"flow_mode": 4, "diffserv_mode": 3}
        usual = {"bandwidth": "unlimited", "isolation": "flows", "diffserv": "besteffort"}
        return own | usual, theirs
    if name == "fq":
        return own, {}
    if name == "dualpi2":
        return {}, {}
    return {"ecn": ecn}, {"ecn": int(ecn)}


def _red(ecn: bool, rate: float) -> Mapping[str, Jsonable]:
    """What ``tc`` makes of RED's parameters (iproute2 ``tc_red.c``): weight, slope, and the table
    by which the average of an idle queue decays.
    """
    least, most, average = _RED["min"], _RED["max"], _RED["average"]
    burst = int((2 * least + most) / (3 * average))
    weight = _weight(least, burst, average)
    slope, left = 0, _RED["probability"] / (most - least)
    while slope < 32 and left <= 1:
        slope, left = slope + 1, left * 2
    ticks = average * 8 / rate * 1e9 / 64
    decay = -math.log(1 - 2.0**-weight) / ticks
    scale = next(log for log in range(32) if 31 / decay / 2**log < 512)
    table = [0, *(min(int((cell << scale) * decay), 31) for cell in range(1, 255)), 31]
    options = (weight, slope, scale, int(ecn))
    packed = struct.pack("=IIIBBBB", _RED["limit"], least, most, *options)
    most_likely = int(_RED["probability"] * 2**32)
    return {"parms": list(packed), "stab": table, "max_p": most_likely}


def _weight(least: float, burst: float, average: float) -> int:
    allowed = burst + 1 - least / average
    return next(log for log in range(1, 32) if allowed <= (1 - (1 - 2.0**-log) ** burst) * 2**log)
