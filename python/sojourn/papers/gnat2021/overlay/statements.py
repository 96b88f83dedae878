"""What chapter 4 expects, and what the comparison aims at.

Each experiment has its own bounds and intervals (``experiments``); they were settled before it ran,
but for those of ``tiers-4.18`` and ``order-4.17``, whose delays were known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from sojourn.papers.gnat2021.overlay.cells import DELAY, GOODPUT, LOSS, ORACLE, PLAIN, TABLE
from sojourn.papers.gnat2021.overlay.experiments import EXPERIMENTS
from sojourn.papers.gnat2021.rows import measured
from sojourn.papers.statements import GOALS, Finding, Row, Statement

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


def _zombies(rows: Sequence[Row]) -> Finding:
    with_, without = (
        measured(rows, TABLE, "4.8", DELAY, f"run={run} zombies ") for run in ("with", "without")
    )
    shares = [delay / without[name.replace("with ", "without ")] for name, delay in with_.items()]
    numbers = f"delay {min(shares):.2f} to {max(shares):.2f} of that without"
    return Finding(max(shares) <= 0.5, numbers)


def _below(section: str, part: str, most: float, rows: Sequence[Row]) -> Finding:
    delays = measured(rows, TABLE, section, DELAY, part)
    return Finding(max(delays.values()) <= most, f"{max(delays.values()):.1f} ms at most")


def _steady(rows: Sequence[Row]) -> Finding:
    delays = measured(rows, TABLE, "4.15", DELAY).values()
    numbers = f"{min(delays):.1f} to {max(delays):.1f} ms"
    return Finding(max(delays) <= 2 * min(delays), numbers)


def _order(rows: Sequence[Row]) -> Finding:
    timed, normal = (
        max(measured(rows, TABLE, "4.17", DELAY, f"phase=outage flows={name}").values())
        for name in ("timed", "normal")
    )
    return Finding(timed < normal, f"{timed:.1f} and {normal:.1f} ms")


def _faster(rows: Sequence[Row]) -> Finding:
    first, second = (
        [*measured(rows, TABLE, "4.19", DELAY, f"run=run {run} phase=steady flows=normal").values()]
        for run in (1, 2)
    )
    faster = all(later < before for later, before in zip(second, first, strict=True))
    told = (" and ".join(f"{delay:.1f}" for delay in delays) for delays in (second, first))
    return Finding(faster, "{} ms after {} ms".format(*told))


def _lossless(rows: Sequence[Row]) -> Finding:
    most = max(_of_run(rows, "", LOSS).values())
    return Finding(most <= 0.1, f"at most {most:.3f} %")


def _tiers(rows: Sequence[Row]) -> Finding:
    found = _of_run(rows, "", DELAY)
    delays = [found[name] for name in ("39 ms", "99 ms", "no deadline")]
    apart = all(later >= 1.25 * before for before, later in pairwise(delays))
    return Finding(apart, ", ".join(f"{delay:.1f} ms" for delay in delays))


def _gain(part: str, least: float, rows: Sequence[Row]) -> Finding:
    part = f"phase={part} flows=test"
    got, bare = (max(measured(rows, TABLE, "4.1", c, part).values()) for c in (GOODPUT, PLAIN))
    return Finding(got >= least * bare, f"{got:.2f} and {bare:.3f} Mbit/s: {got / bare:.0f} times")


def _forms(runs: tuple[str, str], rows: Sequence[Row]) -> Finding:
    """Of ways that avoid where a packet has been, beside those that do not."""
    told, good = [], True
    for column, least, most in ((GOODPUT, 0.95, 1.05), (DELAY, 0.0, 1.1)):
        avoiding, others = (_of_run(rows, run, column) for run in runs)
        # Of what does not arrive either way there is no share.
        both = [(avoiding[flows], others[flows]) for flows in avoiding]
        good &= all(least * other <= got <= most * other for got, other in both)
        shares = [got / other for got, other in both if other > 0]
        told.append(f"{column} {min(shares):.3f} to {max(shares):.3f} of that of the others")
    return Finding(good, ", ".join(told))


def _of_run(rows: Sequence[Row], run: str, column: str) -> dict[str, float]:
    """Values of a run of 4.18 by flows."""
    begin = f"run={run} phase=steady " if run else "phase=steady "
    values = measured(rows, TABLE, "4.18", column, begin)
    return {
        name.removeprefix(begin): value for name, value in values.items() if name.startswith(begin)
    }


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
    Statement(
        "zombies",
        "4.8",
        "Zombies reduce latency significantly",
        "mean delay of every group at most half of that without",
        _zombies,
    ),
    Statement(
        "steady-4.15",
        "4.15",
        "Latency remains fairly constant across all flows",
        "the largest mean delay of a flow in an interval at most twice the smallest",
        _steady,
    ),
    Statement(
        "timed-4.17",
        "4.17",
        "The latency-sensitive flow takes less than 10 ms except in the outage",
        "mean delay before and after",
        lambda rows: _both(rows, "4.17", ("phase=before flows=timed", "phase=after flows=timed")),
    ),
    Statement(
        "timed-outage-4.17",
        "4.17",
        "It stays under 40 ms in the outage",
        "mean delay",
        partial(_below, "4.17", "phase=outage flows=timed", 40.0),
    ),
    Statement(
        "order-4.17",
        "4.17",
        "In the outage, too, the other flow takes longer",
        "mean delays",
        _order,
    ),
    Statement(
        "timed-4.19",
        "4.19",
        "Latency-sensitive flows meet their deadline of 60 ms in all runs",
        "mean delay of each at most 60 ms",
        partial(_below, "4.19", "flows=timed", 60.0),
    ),
    Statement(
        "faster-4.19",
        "4.19",
        "The other flows are faster in run 2 than in run 1",
        "mean delay of each",
        _faster,
    ),
    Statement(
        "lossless-4.18",
        "4.18",
        "Nothing is lost",
        "of the datagrams of each flow at most 0.1 %",
        _lossless,
    ),
    Statement(
        "tiers-4.18",
        "4.18",
        "Latencies are in three tiers, by deadline",
        "each mean delay at least 1.25 times that of the next earlier deadline",
        _tiers,
    ),
    Statement(
        "timed-39-4.18",
        "4.18",
        "The flow with 39 ms to go is delivered in time",
        "mean delay at most 39 ms",
        partial(_below, "4.18", "flows=39 ms", 39.0),
    ),
    Statement(
        "timed-99-4.18",
        "4.18",
        "The flow with 99 ms to go is delivered in time",
        "mean delay at most 99 ms",
        partial(_below, "4.18", "flows=99 ms", 99.0),
    ),
    *(
        Statement(
            f"multipath-4.18-{name}",
            "4.18",
            f"Ways that avoid where a packet has been serve flows as well as the others ({name})",
            "goodput of each flow within 5 % of that with the others, delay at most a tenth longer",
            partial(_forms, runs),
        )
        for name, runs in (
            ("square", ("conditioned", "")),
            ("mesh", ("mesh, conditioned", "mesh, source-based")),
        )
    ),
    Statement(
        "small-4.20",
        "4.20",
        "The small flow is not delayed abnormally",
        "mean delay at most 200 ms",
        partial(_below, "4.20", "flows=small", 200.0),
    ),
)


def _both(rows: Sequence[Row], section: str, parts: Sequence[str]) -> Finding:
    delays = [max(measured(rows, TABLE, section, DELAY, part).values()) for part in parts]
    return Finding(max(delays) <= 10.0, ", ".join(f"{delay:.1f} ms" for delay in delays))
