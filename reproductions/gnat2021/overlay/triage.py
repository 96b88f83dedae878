"""What the sections on triage say (4.24 and 4.26 to 4.30).

A flow that fits gets 90 % of its rate, one that is off, or tries now and then, a quarter of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.gnat2021.headers import BETWEEN, BETWEEN_TIMED, UDP
from sojourn_reproductions.gnat2021.overlay.cells import GOODPUT, ORACLE, SERVED, TABLE
from sojourn_reproductions.gnat2021.rows import measured

ON, OFF = 0.9, 0.25
#: Payload of a datagram of 1,024 bytes in what it takes on a link between nodes.
_PAYLOAD = 1_024 / (1_024 + UDP + BETWEEN)


def _goodput(rows: Sequence[Row], section: str, phase: str, flows: str) -> float:
    """Of each flow of a group, ``phase`` perhaps after a run; a ``KeyError`` if not measured."""
    name = phase if phase.startswith("run=") else f"phase={phase}"
    name += f" flows={flows}"
    for row in rows:
        key = (row["section"], row["table"], row["row"], row["column"])
        if key == (section, TABLE, name, GOODPUT) and row["measured"] is not None:
            return float(row["measured"])
    raise KeyError(f"{section} {name}")


def _states(
    section: str,
    phase: str,
    on: Sequence[tuple[str, float]],
    off: Sequence[tuple[str, float]],
    rows: Sequence[Row],
) -> Finding:
    """Whether flows are on and off; each with its rate in Mbit/s."""
    shares = [
        (flows, _goodput(rows, section, phase, flows) / rate, flows in dict(on))
        for flows, rate in (*on, *off)
    ]
    good = all(share >= ON if is_on else share <= OFF for _, share, is_on in shares)
    return Finding(good, ", ".join(f"{flows} {100 * share:.0f} %" for flows, share, _ in shares))


def _one_of_two(run: str, rows: Sequence[Row]) -> Finding:
    phase = f"run={run} phase=slow"
    low, high = sorted(_goodput(rows, "4.27", phase, f"flow {n}") / 3 for n in (1, 2))
    return Finding(high >= ON and low <= OFF, f"{100 * low:.0f} and {100 * high:.0f} %")


def most_that_fit(rate: float, priority: float, each: float, elastic: float = 1.0) -> int:
    """Inelastic flows of a rate that a link carries beside elastic ones.

    What these get makes a queue, which the inelastic ones are worth: ``K elastic / rest <= K
    priority / each``. All rates are payload, in Mbit/s.
    """
    fit = 0
    while rate - (fit + 1) * each >= each * elastic / priority:
        fit += 1
    return fit


def _count(phase: str, rate: float, said: int, rows: Sequence[Row]) -> Finding:
    groups = {"inelastic 3": 20, "inelastic 4": 2}
    got = sum(n * _goodput(rows, "4.28", phase, flows) for flows, n in groups.items())
    best = most_that_fit(0.99 * rate * _PAYLOAD, 3, 1.0)
    numbers = f"{got:.1f} flows' worth; {said} are expected, {best} would fit"
    return Finding(min(said, best) - 1 <= got <= max(said, best) + 0.5, numbers)


def _shared(rows: Sequence[Row]) -> Finding:
    sums = [30 * _goodput(rows, "4.29", "steady", f"inelastic {ends}") for ends in ("1-4", "2-5")]
    room = 0.2 * most_that_fit(0.99 * 10 * _PAYLOAD, 3, 0.2, elastic=2)
    numbers = f"{sums[0]:.2f} and {sums[1]:.2f} Mbit/s of {room:.1f} that would fit"
    return Finding(sum(sums) >= 0.7 * room and min(sums) >= sum(sums) / 4, numbers)


def _square(run: str, rows: Sequence[Row]) -> Finding:
    phase = f"run={run} phase=steady"
    near, far = (16 * _goodput(rows, "4.30", phase, f"{rate} kbit/s") for rate in (400, 500))
    room = 0.99 * 10 * 1_024 / (1_024 + UDP + BETWEEN_TIMED)
    numbers = f"{near:.2f} and {far:.2f} Mbit/s of {room:.1f}"
    return Finding(near + far >= 0.6 * room and min(near, far) >= 1.5, numbers)


def _sets(section: str, rows: Sequence[Row]) -> Finding:
    """Whether the flows that are on are those of the best set, in each interval."""
    # Floored flows are on with less than all of their rate.
    least = 100 * (ON if section == "4.22" else OFF)
    best, got = (measured(rows, TABLE, section, column) for column in (ORACLE, SERVED))
    told, good = [], True
    for when, names in groupby(best, key=lambda name: name.partition(" flows=")[0]):
        flows = [name for name in names if "elastic" not in name.partition("flows=")[2].split()]
        sets = [
            {name.partition("flows=")[2] for name in flows if values[name] >= limit}
            for values, limit in ((got, least), (best, 1e-3))
        ]
        good &= sets[0] == sets[1]
        on, wanted = (", ".join(sorted(labels)) or "none" for labels in sets)
        told.append(f"{when.removeprefix('phase=')}: {on}; best {wanted}")
    return Finding(good, ". ".join(told))


def _stated(
    name: str,
    section: str,
    text: str,
    phase: str,
    on: Sequence[tuple[str, float]],
    off: Sequence[tuple[str, float]] = (),
) -> Statement:
    criterion = f"{phase}: {100 * ON:g} % of the rate if on, at most {100 * OFF:g} % if off"
    check = partial(_states, section, phase, on, off)
    return Statement(name, section, text, criterion, check)


_RUNS = ("Cubic and Copa", "Copa")

#: A group of flows, and the rate of each in Mbit/s.
_Flow = tuple[str, float]


def _thrash(run: str) -> list[Statement]:
    """Of 4.27; what it says of the last interval cannot be, as more is to stay on than fits."""
    said: tuple[tuple[str, str, str, list[_Flow], list[_Flow]], ...] = (
        ("fit", "all fit", "All flows fit at first", [("flow 1", 3.0), ("flow 2", 3.0)], []),
        (
            "admitted",
            "more flows",
            "Flows 4, 5 and 6 fit, flow 3 does not",
            [("flow 4", 0.2), ("flow 5", 0.6), ("flow 6", 2.0)],
            [("flow 3", 2.5)],
        ),
        (
            "faster",
            "faster",
            "Flow 3 fits when the path is faster, and flow 7; flow 8 does not",
            [("flow 3", 2.5), ("flow 7", 0.4)],
            [("flow 8", 3.0)],
        ),
    )
    one_of_two = Statement(
        f"one-of-two-4.27-{run}",
        "4.27",
        f"When the path becomes slow one of two flows is triaged, the other persists ({run})",
        f"slow: {100 * ON:g} % of the rate if on, at most {100 * OFF:g} % if off",
        partial(_one_of_two, run),
    )
    states = [
        _stated(f"{name}-4.27-{run}", "4.27", text, f"run={run} phase={phase}", on, off)
        for name, phase, text, on, off in said
    ]
    return [states[0], one_of_two, *states[1:]]


def _distributed(run: str) -> list[Statement]:
    """Of 4.30."""
    shared = Statement(
        f"shared-4.30-{run}",
        "4.30",
        f"The fast bottleneck is full of flows that stay on, from both sources ({run})",
        "flows with a deadline have 60 % of it, each source 1.5 Mbit/s",
        partial(_square, run),
    )
    text = "The flow that can take the slow way stays on"
    phase = f"run={run} phase=steady"
    return [shared, _stated(f"slow-way-4.30-{run}", "4.30", text, phase, [("2 Mbit/s", 2.0)])]


_PAIRS = ("1-3", "2-4", "3-1", "4-2")
_HIGH, _LOW = ([(f"inelastic {p} {ends}", r) for ends in _PAIRS] for p, r in ((10, 0.1), (1, 0.05)))
_BOTH = [("inelastic 10", 3.5), ("inelastic 20", 3.5)]

STATEMENTS = (
    *(
        Statement(
            f"set-{section}",
            GOALS,
            f"{section}: the flows that are on are the best set that can be served",
            "each interval, by enumeration; on with 90 % of the rate, floored flows with 25 %",
            partial(_sets, section),
        )
        for section in ("4.22", "4.25")
    ),
    _stated("all-on-4.24", "4.24", "All inelastic flows fit at first", "before", [*_HIGH, *_LOW]),
    _stated(
        "low-off-4.24",
        "4.24",
        "Impaired, the low-priority inelastic flows are triaged and the others stay",
        "impaired",
        _HIGH,
        _LOW,
    ),
    *(
        _stated(f"{name}-4.26-{run}", "4.26", text, f"run={run} phase={phase}", on, off)
        for run in ("configuration", "text")
        for name, phase, text, on, off in (
            ("both", "before", "Both inelastic flows are on at first", _BOTH, []),
            (
                "triage",
                "slow",
                "With a slower path that of lower priority is triaged",
                _BOTH[1:],
                _BOTH[:1],
            ),
            ("again", "after", "It is on again when the path is restored", _BOTH, []),
        )
    ),
    *(each for run in _RUNS for each in _thrash(run)),
    *(
        Statement(
            f"inelastic-4.28-{rate}",
            "4.28",
            f"At {rate} Mbit/s {said} inelastic flows are on",
            "between one fewer than expected, or than fit, and half a flow more",
            partial(_count, f"{rate} Mbit/s", rate, said),
        )
        for rate, said in ((6, 4), (15, 12))
    ),
    Statement(
        "shared-4.29",
        "4.29",
        "Most flows that fit are on, from both sources",
        "inelastic flows have 70 % of what fits; each source has a quarter of that",
        _shared,
    ),
    *(each for run in _RUNS for each in _distributed(run)),
)
