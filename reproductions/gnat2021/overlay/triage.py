"""What the sections on triage say (4.24 and 4.26 to 4.30).

A flow that fits gets 90 % of its rate, one that is off, or tries now and then, a quarter of it. The
card says since when, and that what the best set is in 4.25 is no prediction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.gnat2021.headers import BETWEEN, BETWEEN_TIMED, UDP
from sojourn_reproductions.gnat2021.overlay.cells import GOODPUT, ORACLE, SERVED, TABLE
from sojourn_reproductions.gnat2021.overlay.groups import groups
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.rows import measured, row_name

ON, OFF = 0.9, 0.25
#: Per cent of its rate from which a flow that can be off is on, by utility: floored flows are on
#: with less than all of it.
_LEAST = {"strap": 100 * ON, "flog": 100 * OFF}
#: Payload of a datagram of 1,024 bytes in what it takes on a link between nodes.
_PAYLOAD = 1_024 / (1_024 + UDP + BETWEEN)


def _printed() -> Mapping[tuple[str, str], Sequence[tuple[str, float, str]]]:
    """The flows that the report has on and off, by section and interval, each with its rate in
    Mbit/s and its state.
    """
    found: dict[tuple[str, str], list[tuple[str, float, str]]] = {}
    for row in published("overlay_states"):
        said = (row["flows"], float(row["rate_mbit"]), row["state"])
        found.setdefault((row["section"], row["phase"]), []).append(said)
    return found


_SAID = _printed()


def _goodput(rows: Sequence[Row], section: str, run: str, phase: str, flows: str) -> float:
    """Of each flow of a group, Mbit/s; a ``KeyError`` if it was not measured."""
    name = row_name(run, phase, f"flows={flows}")
    for row in rows:
        key = (row["section"], row["table"], row["row"], row["column"])
        if key == (section, TABLE, name, GOODPUT) and row["measured"] is not None:
            return float(row["measured"])
    raise KeyError(f"{section} {name}")


def _shares(
    section: str, run: str, phase: str, rows: Sequence[Row]
) -> Iterator[tuple[str, float, str]]:
    """Of each flow that the report has on or off: its share of its rate, and how it has it."""
    for flows, rate, state in _SAID[section, phase]:
        yield flows, _goodput(rows, section, run, phase, flows) / rate, state


def _states(section: str, run: str, phase: str, rows: Sequence[Row]) -> Finding:
    """Whether flows are on and off as the report has them."""
    told, good = [], True
    for flows, share, state in _shares(section, run, phase, rows):
        good &= share >= ON if state == "on" else share <= OFF
        told.append(f"{flows} {100 * share:.0f} %")
    return Finding(good, ", ".join(told))


def _one_of_two(run: str, rows: Sequence[Row]) -> Finding:
    low, high = sorted(share for _, share, _ in _shares("4.27", run, "slow", rows))
    return Finding(high >= ON and low <= OFF, f"{100 * low:.0f} and {100 * high:.0f} %")


def most_that_fit(rate: float, priority: float, each: float, elastic: float) -> int:
    """Inelastic flows of a rate that a link carries beside elastic ones.

    What these, of a priority in all, get makes a queue, which the inelastic ones are worth: ``K
    elastic / rest <= K priority / each``. All rates are payload, in Mbit/s.
    """
    fit = 0
    while rate - (fit + 1) * each >= each * elastic / priority:
        fit += 1
    return fit


def _count(rate: float, said: int, rows: Sequence[Row]) -> Finding:
    known = groups("4.28")
    inelastic = {name: group for name, group in known.items() if group.utility == "strap"}
    got = sum(
        group.count * _goodput(rows, "4.28", "", f"{rate:g} Mbit/s", name) / group.rate
        for name, group in inelastic.items()
    )
    least = min(inelastic.values(), key=lambda group: group.priority)
    elastic = known["elastic 1-3"].priority
    best = most_that_fit(0.99 * rate * _PAYLOAD, least.priority, least.rate, elastic)
    numbers = f"{got:.1f} flows' worth; {said} are expected, {best} would fit"
    return Finding(min(said, best) - 1 <= got <= max(said, best) + 0.5, numbers)


def _shared(rows: Sequence[Row]) -> Finding:
    known, ends = groups("4.29"), ("1-4", "2-5")
    each = known["inelastic 1-4"]
    names = [f"inelastic {pair}" for pair in ends]
    sums = [known[name].count * _goodput(rows, "4.29", "", "steady", name) for name in names]
    elastic = sum(known[f"elastic {pair}"].priority for pair in ends)
    fit = most_that_fit(0.99 * 10 * _PAYLOAD, each.priority, each.rate, elastic)
    room = each.rate * fit
    numbers = f"{sums[0]:.2f} and {sums[1]:.2f} Mbit/s of {room:.1f} that would fit"
    return Finding(sum(sums) >= 0.7 * room and min(sums) >= sum(sums) / 4, numbers)


def _square(run: str, rows: Sequence[Row]) -> Finding:
    known = groups("4.30")
    near, far = (
        known[name].count * _goodput(rows, "4.30", run, "steady", name)
        for name in ("400 kbit/s", "500 kbit/s")
    )
    room = 0.99 * 10 * 1_024 / (1_024 + UDP + BETWEEN_TIMED)
    numbers = f"{near:.2f} and {far:.2f} Mbit/s of {room:.1f}"
    return Finding(near + far >= 0.6 * room and min(near, far) >= 1.5, numbers)


def _sets(section: str, rows: Sequence[Row]) -> Finding:
    """Whether the flows that are on are those of the best set, in each interval."""
    best, got = (measured(rows, TABLE, section, column) for column in (ORACLE, SERVED))
    known = groups(section)
    told, good = [], True
    for when, names in groupby(best, key=lambda name: name.partition(" flows=")[0]):
        labels = {name: name.partition("flows=")[2] for name in names}
        limits = {name: _LEAST.get(known[label].utility) for name, label in labels.items()}
        on = {labels[name] for name, least in limits.items() if least and got[name] >= least}
        wanted = {labels[name] for name, least in limits.items() if least and best[name] >= 1e-3}
        good &= on == wanted
        here, there = (", ".join(sorted(each)) or "none" for each in (on, wanted))
        told.append(f"{when.removeprefix('phase=')}: {here}; best {there}")
    return Finding(good, ". ".join(told))


def _stated(name: str, section: str, text: str, phase: str, run: str = "") -> Statement:
    when = ", ".join(filter(None, (run, phase)))
    criterion = f"{when}: {100 * ON:g} % of the rate if on, at most {100 * OFF:g} % if off"
    return Statement(name, section, text, criterion, partial(_states, section, run, phase))


_RUNS = ("Cubic and Copa", "Copa")


def _thrash(run: str) -> list[Statement]:
    """Of 4.27; what it says of the last interval cannot be, as more is to stay on than fits."""
    said = (
        ("fit", "all fit", "All flows fit at first"),
        ("admitted", "more flows", "Flows 4, 5 and 6 fit, flow 3 does not"),
        ("faster", "faster", "Flow 3 fits when the path is faster, and flow 7; flow 8 does not"),
    )
    one_of_two = Statement(
        f"one-of-two-4.27-{run}",
        "4.27",
        "When the path becomes slow one of two flows is triaged, the other persists",
        f"{run}, slow: {100 * ON:g} % of the rate if on, at most {100 * OFF:g} % if off",
        partial(_one_of_two, run),
    )
    states = [_stated(f"{name}-4.27-{run}", "4.27", text, phase, run) for name, phase, text in said]
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
    return [shared, _stated(f"slow-way-4.30-{run}", "4.30", text, "steady", run)]


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
    _stated("all-on-4.24", "4.24", "All inelastic flows fit at first", "before"),
    _stated(
        "low-off-4.24",
        "4.24",
        "Impaired, the low-priority inelastic flows are triaged and the others stay",
        "impaired",
    ),
    *(
        _stated(f"{name}-4.26-{run}", "4.26", text, phase, run)
        for run in ("configuration", "text")
        for name, phase, text in (
            ("both", "before", "Both inelastic flows are on at first"),
            ("triage", "slow", "With a slower path that of lower priority is triaged"),
            ("again", "after", "It is on again when the path is restored"),
        )
    ),
    *(each for run in _RUNS for each in _thrash(run)),
    *(
        Statement(
            f"inelastic-4.28-{row['rate_mbit']}",
            "4.28",
            f"At {row['rate_mbit']} Mbit/s {row['flows']} inelastic flows are on",
            "between one fewer than expected, or than fit, and half a flow more",
            partial(_count, float(row["rate_mbit"]), int(row["flows"])),
        )
        for row in published("overlay_counts")
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
