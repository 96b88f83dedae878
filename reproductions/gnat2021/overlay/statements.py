"""What chapter 4 expects, and what the comparison aims at.

Tolerances and intervals were settled before most of the experiments ran; the optimum, the form of
the ratios and that of 4.24 were not. The card says since when each is as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.gnat2021.overlay import statements_latency
from sojourn_reproductions.gnat2021.overlay.cells import GOODPUT, ORACLE, PLAIN, TABLE
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS
from sojourn_reproductions.gnat2021.overlay.groups import groups
from sojourn_reproductions.gnat2021.overlay.triage import OFF
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.rows import measured

#: Sections without goodputs that the report expects.
_UNTOLD = {"3.4", "4.12", "4.27", "4.28", "4.29", "4.30"}
#: How near shares are to be to the utility maximum once they have settled.
_NEAR = 0.05
#: How near a ratio or a goodput of the report's text is to be.
_ALIKE = 0.15


def _optimal(section: str, rows: Sequence[Row]) -> Finding:
    best, got = (measured(rows, TABLE, section, column) for column in (ORACLE, GOODPUT))
    away = {name: got[name] / best[name] - 1 for name in best}
    worst = max(away, key=lambda name: abs(away[name]))
    within = sum(abs(value) <= _NEAR for value in away.values())
    numbers = f"{within} of {len(away)}; worst {100 * away[worst]:+.1f} % ({worst})"
    return Finding(within == len(away), numbers)


def _expected(section: str, rows: Sequence[Row]) -> Finding:
    pairs = [
        (row["measured"], row["published"], row["row"])
        for row in rows
        if row["section"] == section and row["column"] == GOODPUT and row["published"] is not None
    ]
    pairs = [pair for pair in pairs if pair[0] is not None]
    if not pairs:
        raise KeyError(section)
    away = [_away(section, *pair) for pair in pairs]
    near = [each <= 1 for each in away]
    got, wanted, row = pairs[away.index(max(away))]
    numbers = f"{sum(near)} of {len(near)}; worst {got:.3g} for {wanted:.3g} ({row})"
    return Finding(all(near), numbers)


def _away(section: str, got: float, wanted: float, row: str) -> float:
    """The difference, in what is allowed; a flow that is to be off may try now and then."""
    if wanted:
        return abs(got / wanted - 1) / _ALIKE
    return got / (OFF * groups(section)[row.partition("flows=")[2]].rate)


def _ratio(
    section: str, pair: tuple[str, str], wanted: float, when: str, rows: Sequence[Row]
) -> Finding:
    together: dict[str, dict[str, float]] = {}
    for name, value in measured(rows, TABLE, section, GOODPUT, when).items():
        at, _, flows = name.partition("flows=")
        together.setdefault(at, {})[flows] = value
    ratios = [
        upper / lower
        for flows in together.values()
        for one, upper in flows.items()
        for other, lower in flows.items()
        if _is_of(one, pair[0]) and _is_of(other, pair[1])
    ]
    if not ratios:
        raise KeyError(f"{section} {', '.join(pair)}")
    near = all(abs(ratio / wanted - 1) <= _ALIKE for ratio in ratios)
    return Finding(near, f"{min(ratios):.2f} to {max(ratios):.2f}")


def _is_of(flows: str, group: str) -> bool:
    """Whether a label is that of a group, or of the group's flows between two nodes."""
    return f"{flows} ".startswith(f"{group} ")


def _gain(part: str, least: float, rows: Sequence[Row]) -> Finding:
    part = f"phase={part} flows=test"
    got, bare = (max(measured(rows, TABLE, "4.1", c, part).values()) for c in (GOODPUT, PLAIN))
    times = f"{got / bare:.3g} times" if bare else "nothing without it"
    return Finding(got >= least * bare, f"{got:.2f} and {bare:.3f} Mbit/s: {times}")


class _Ratio(NamedTuple):
    """A row of the published ones: flows of one group to those of another, in an interval."""

    section: str
    run: str
    phase: str
    one: str
    other: str
    ratio: str


#: Not printed: 3.4's follows from the priorities that were chosen, 4.20's is that of the optimum.
_OURS = (
    _Ratio("3.4", "6 flows", "", "high", "low", "5"),
    _Ratio("4.20", "", "second", "second 1-2", "second 1-3", "5"),
)


def _ratios() -> Iterator[Statement]:
    printed = (_Ratio(**row) for row in published("overlay_ratios"))
    for section, run, phase, one, other, ratio in (*printed, *_OURS):
        wanted = float(ratio)
        where = ", ".join(filter(None, (run, phase)))
        text = f"{one} to {other} flows share {wanted:g}:1" + (f" ({where})" if where else "")
        name = f"ratio-{section}-{wanted:g}" + (f"-{run[-1]}" if run.startswith("run ") else "")
        criterion = f"each of the one over each of the other, at a time, within {100 * _ALIKE:g} %"
        when = " ".join(filter(None, (run and f"run={run}", phase and f"phase={phase}")))
        check = partial(_ratio, section, (one, other), wanted, when)
        yield Statement(name, section, text, criterion, check)


def _each(
    name: str, text: str, criterion: str, check: Callable[[str, Sequence[Row]], Finding], goal: bool
) -> list[Statement]:
    return [
        Statement(
            f"{name}-{experiment.section}",
            GOALS if goal else experiment.section,
            f"{experiment.section}: {text}",
            criterion,
            partial(check, experiment.section),
        )
        for experiment in EXPERIMENTS
        if (experiment.elastic if goal else experiment.section not in _UNTOLD)
    ]


STATEMENTS = (
    *_each(
        "goodput",
        "flows get the goodput that the report expects",
        f"each group in each interval within {100 * _ALIKE:g} %; of one that is to be off at most "
        f"{100 * OFF:g} % of its rate",
        _expected,
        goal=False,
    ),
    *_each(
        "optimal",
        "shares are the utility maximum over all ways of routing",
        f"each group in each interval within {100 * _NEAR:g} %",
        _optimal,
        goal=True,
    ),
    *_ratios(),
    *(
        Statement(
            f"gain-4.1-{row['phase']}",
            row["section"],
            f"The overlay carries {row['times']} times what the single best path does "
            f"({row['phase']})",
            f"goodput at least {row['times']} times that without",
            partial(_gain, row["phase"], float(row["times"])),
        )
        for row in published("overlay_gains")
    ),
    *statements_latency.STATEMENTS,
)
