"""What chapter 4 expects, and what the comparison aims at.

Each experiment has its own bounds and intervals (``experiments``); they were settled before it ran.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sojourn.reproduction.statements import GOALS, Finding, Row, Statement
from sojourn_reproductions.gnat2021.overlay import statements_latency
from sojourn_reproductions.gnat2021.overlay.cells import GOODPUT, ORACLE, PLAIN, TABLE
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS
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
    near = [_away(got, wanted) <= _ALIKE for got, wanted, _ in pairs]
    worst = max(pairs, key=lambda pair: _away(pair[0], pair[1]))
    numbers = f"{sum(near)} of {len(near)}; worst {worst[0]:.3g} for {worst[1]:.3g} ({worst[2]})"
    return Finding(all(near), numbers)


def _away(got: float, wanted: float) -> float:
    """The relative difference; of a flow that should be off, Mbit/s."""
    return abs(got / wanted - 1) if wanted else got


def _ratio(
    section: str, high: str, low: str, wanted: float, part: str, rows: Sequence[Row]
) -> Finding:
    together: dict[str, dict[str, float]] = {}
    for name, value in measured(rows, TABLE, section, GOODPUT, part).items():
        when, _, flows = name.partition("flows=")
        together.setdefault(when, {})[flows] = value
    ratios = [
        upper / lower
        for flows in together.values()
        for one, upper in flows.items()
        for other, lower in flows.items()
        if one.startswith(high) and other.startswith(low)
    ]
    if not ratios:
        raise KeyError(f"{section} {high}, {low}")
    near = all(abs(ratio / wanted - 1) <= _ALIKE for ratio in ratios)
    return Finding(near, f"{min(ratios):.2f} to {max(ratios):.2f}")


def _gain(part: str, least: float, rows: Sequence[Row]) -> Finding:
    part = f"phase={part} flows=test"
    got, bare = (max(measured(rows, TABLE, "4.1", c, part).values()) for c in (GOODPUT, PLAIN))
    return Finding(got >= least * bare, f"{got:.2f} and {bare:.3f} Mbit/s: {got / bare:.0f} times")


def _ratios() -> list[Statement]:
    made = []
    for section, high, low, wanted, part in (
        ("4.7", "high TCP", "low", 5.0, ""),
        ("4.8", "high", "low", 5.0, "run=with "),
        ("4.9", "high", "low", 5.0, ""),
        ("4.10", "high", "low", 5.0, ""),
        ("4.11", "high", "low", 5.0, ""),
        ("4.13", "high", "low", 5.0, ""),
        ("3.4", "high", "low", 5.0, "run=6 flows"),
        ("4.23", "TCP 10", "TCP 1 ", 10.0, "phase=before"),
        ("4.24", "TCP 10", "TCP 5", 2.0, ""),
        ("4.17", "normal", "timed", 5.0, "phase=outage"),
        ("4.19", "normal", "timed", 1.0, "run=run 1"),
        ("4.19", "normal", "timed", 5.0, "run=run 2"),
        ("4.20", "second 1-2", "second 1-3", 10.0, "phase=second"),
        ("4.20", "second 1-2", "second 1-3", 5.0, "phase=second"),
        ("4.21", "high", "low", 2.0, "run=run 1"),
        ("4.21", "high", "low", 1.0, "run=run 3"),
    ):
        where = " ".join(filter(None, (part.replace("=", " "),)))
        text = f"{high} to {low} flows share {wanted:g}:1" + (
            f" ({where.strip()})" if where else ""
        )
        name = f"ratio-{section}-{wanted:g}" + (f"-{part[-1:]}" if "run=run" in part else "")
        criterion = f"each of the one over each of the other, at a time, within {100 * _ALIKE:g} %"
        check = partial(_ratio, section, high, low, wanted, part)
        made.append(Statement(name, section, text, criterion, check))
    return made


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
        f"each group in each interval within {100 * _ALIKE:g} %",
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
            f"gain-4.1-{phase}",
            "4.1",
            f"The overlay carries {least} times what the single best path does ({phase})",
            f"goodput at least {least} times that without",
            partial(_gain, phase, least),
        )
        for phase, least in (("first", 2), ("competing", 50), ("loss", 50))
    ),
    *statements_latency.STATEMENTS,
)
