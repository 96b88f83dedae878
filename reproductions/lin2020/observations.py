"""The paper's observations of wired scenarios (1 to 7). The card says since when each criterion has
stood, and that observation 2 is calibrated.
"""

from __future__ import annotations

from statistics import median

from sojourn.reproduction.statements import Finding
from sojourn_reproductions.lin2020 import controls
from sojourn_reproductions.lin2020.section import INFERRED, PATH, PRINTED
from sojourn_reproductions.lin2020.values import Values, statement, told

_LOSS_BASED = ("BIC", "CUBIC", "H-TCP", "Hybla", "Illinois", "NewReno", "Scalable")
_OTHERS = tuple(row for row in controls.WIRED if row != "BBR")


def _bbr_in_lan(value: Values) -> Finding:
    goodput = value.column("figure-2", ("BBR", "CUBIC"), "LAN Goodput")
    rtt = value.column("figure-2", ("BBR", "CUBIC"), "LAN RTT p95")
    spread = value.column("11", ("BBR", "CUBIC"), "LAN s")
    lower = rtt["BBR"] < rtt["CUBIC"] and spread["BBR"] < spread["CUBIC"]
    holds = goodput["BBR"] >= 0.95 * goodput["CUBIC"] and lower
    return Finding(holds, f"{told(goodput)} Mbit/s; {told(rtt)} ms; {told(spread)} kB")


def _cubic_in_wan_2(value: Values) -> Finding:
    goodput = value("figure-2", "CUBIC", "WAN-2 Goodput")
    return Finding(goodput < 50, f"{goodput:.1f} of 100 Mbit/s")


def _bbr_in_wan_2(value: Values) -> Finding:
    goodput = value.column("figure-2", controls.WIRED, "WAN-2 Goodput")
    retransmitted = value.column("figure-2", controls.WIRED, "WAN-2 Retransmission")
    others = median(retransmitted[row] for row in _OTHERS)
    most = max(goodput, key=lambda row: goodput[row])
    holds = most == "BBR" and retransmitted["BBR"] >= 5 * others
    numbers = f"most: {most} {goodput[most]:.1f} Mbit/s, BBR {goodput['BBR']:.1f}; "
    return Finding(holds, f"{numbers}{retransmitted['BBR']:.3g} against {others:.3g} segments/s")


def _cubic_pair_in_lan(value: Values) -> Finding:
    sums = value.column("A22", controls.WIRED, "Sum")
    jain = value("A22", "CUBIC", "Jain's Index")
    most = max(sums.values())
    told_sum = f"{sums['CUBIC']:.2f} of at most {most:.2f} Mbit/s, Jain {jain:.3f}"
    return Finding(sums["CUBIC"] >= 0.995 * most and jain >= 0.99, told_sum)


def _improvement(value: Values) -> Finding:
    sums = value.column("10", ("Hybla", "Illinois", "CUBIC"), "Sum")
    return Finding(min(sums["Hybla"], sums["Illinois"]) >= 2 * sums["CUBIC"], told(sums))


def _faster_and_worse(value: Values) -> Finding:
    def more(column: str, sign: int) -> int:
        lan = value.column("11", _LOSS_BASED, f"LAN {column}")
        wan = value.column("11", _LOSS_BASED, f"WAN-2 {column}")
        return sum(sign * (wan[row] - lan[row]) > 0 for row in _LOSS_BASED)

    faster, worse = more("t_c", -1), more("s", 1)
    return Finding(
        min(faster, worse) >= 5, f"{faster} of 7 converge faster, {worse} of 7 steady less"
    )


def _at_the_beginning(value: Values) -> Finding:
    times = {
        f"{row} {path}": value("11", row, f"{path} t_c")
        for row in ("BBR", "YeAH")
        for path in ("LAN", "WAN-1", "WAN-2")
    }
    return Finding(max(times.values()) <= 40, f"{told(times)} s")


OF_PATHS = (
    statement(
        "observation-1",
        "5.1.2",
        "BBR fills the bottleneck in LAN with lower and steadier RTT than Cubic",
        "figure 2: goodput at least 95 % of Cubic's, RTT p95 below; table 11: s below",
        PATH,
        _bbr_in_lan,
    ),
    statement(
        "observation-2",
        "5.1.4",
        "Cubic under-uses a lossy long fat network",
        "figure 2: below 50 Mbit/s in WAN-2 (chosen with this baseline)",
        PATH,
        _cubic_in_wan_2,
    ),
    statement(
        "observation-3",
        "5.1.4",
        "BBR has the highest goodput of all in it, at the cost of massive retransmissions",
        "figure 2, WAN-2: the highest; retransmissions at least 5 times the others' median",
        PATH,
        _bbr_in_wan_2,
    ),
    statement(
        "observation-6",
        "5.4",
        "Loss-based controls converge faster and are less steady in a lossy long fat network",
        "table 11: at least 5 of its 7 have t_c below, and at least 5 s above, those in LAN",
        PATH,
        _faster_and_worse,
    ),
    statement(
        "observation-7",
        "5.4",
        "BBR and YeAH converge at the beginning",
        "table 11: t_c at most 40 s on all three paths",
        PATH,
        _at_the_beginning,
    ),
)
OF_PAIRS = (
    statement(
        "observation-4",
        "5.3",
        "Cubic has the highest utilisation of all pairs in LAN, optimally shared",
        "table A.22, printed form: sum within 0.5 % of the highest, Jain at least 0.99",
        PRINTED,
        _cubic_pair_in_lan,
    ),
    statement(
        "observation-5",
        "5.3",
        "Hybla and Illinois use a lossy long fat network far better than Cubic",
        "table 10, inferred form: sums at least twice Cubic's",
        INFERRED,
        _improvement,
    ),
)
