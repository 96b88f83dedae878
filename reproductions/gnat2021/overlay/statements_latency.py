"""What chapter 4 says of delays and of flows with a time to go.

The card says which criteria were settled before the experiments ran, and which were written when
their delays and losses were known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.overlay.cells import DELAY, GOODPUT, LOSS, TABLE
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.rows import measured

#: Milliseconds that flows take at most as the report has it, by section, interval and flows.
_LIMITS = {
    (row["section"], row["phase"], row["flows"]): float(row["most_ms"])
    for row in published("overlay_delays")
}
#: Of 4.20's small flow, where the report has no number.
_NOT_ABNORMAL = 200.0


def _zombies(rows: Sequence[Row]) -> Finding:
    with_, without = (
        measured(rows, TABLE, "4.8", DELAY, f"run={run} zombies ") for run in ("with", "without")
    )
    shares = [delay / without[name.replace("with ", "without ")] for name, delay in with_.items()]
    numbers = f"delay {min(shares):.2f} to {max(shares):.2f} of that without"
    return Finding(max(shares) <= 0.5, numbers)


def _below(most: float, section: str, part: str, rows: Sequence[Row]) -> Finding:
    delay = max(measured(rows, TABLE, section, DELAY, part).values())
    return Finding(delay <= most, f"{delay:.1f} ms at most")


def _in_time(section: str, phases: Sequence[str], flows: str, rows: Sequence[Row]) -> Finding:
    """Whether flows keep to the report's limit in each of the intervals."""
    found = [
        _below(_LIMITS[section, phase, flows], section, f"phase={phase} flows={flows}", rows)
        for phase in phases
    ]
    good = all(finding.confirmed for finding in found)
    return Finding(good, ", ".join(finding.numbers for finding in found))


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
    delays = [found[f"flows={name}"] for name in ("39 ms", "99 ms", "no deadline")]
    apart = all(later >= 1.25 * before for before, later in pairwise(delays))
    return Finding(apart, ", ".join(f"{delay:.1f} ms" for delay in delays))


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


def _limit(section: str, phase: str, flows: str) -> str:
    return f"{_LIMITS[section, phase, flows]:g} ms"


STATEMENTS = (
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
        f"The latency-sensitive flow takes less than {_limit('4.17', 'before', 'timed')} except in "
        "the outage",
        "mean delay before and after",
        partial(_in_time, "4.17", ("before", "after"), "timed"),
    ),
    Statement(
        "timed-outage-4.17",
        "4.17",
        f"It stays under {_limit('4.17', 'outage', 'timed')} in the outage",
        "mean delay",
        partial(_in_time, "4.17", ("outage",), "timed"),
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
        "Latency-sensitive flows meet their deadline in all runs",
        f"mean delay of each at most {_limit('4.19', 'steady', 'timed')}",
        partial(_in_time, "4.19", ("steady",), "timed"),
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
    *(
        Statement(
            f"timed-{flows.removesuffix(' ms')}-4.18",
            "4.18",
            f"The flow with {flows} to go is delivered in time",
            f"mean delay at most {_limit('4.18', 'steady', flows)}",
            partial(_in_time, "4.18", ("steady",), flows),
        )
        for flows in ("39 ms", "99 ms")
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
        f"mean delay at most {_NOT_ABNORMAL:g} ms",
        partial(_below, _NOT_ABNORMAL, "4.20", "flows=small"),
    ),
)
