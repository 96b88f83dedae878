"""How near Linux 6.12 the simulator is to come: narrowly, and as Linux 6.18's table asks.

The simulator was mended on these same flows, in the open, so that none of them is blind. Flows
behind disciplines that draw, and those that lose ACKs once (``_DRAWN``), are judged by the narrow
goal alone: its outcome for them was known when the other two were written. The card has the dates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from statistics import median

from sojourn.oracles.linux612.table import COMPARED, KEYS, comparable
from sojourn.oracles.linux618.goals import (
    CLOSE_FACTOR,
    CLOSE_RELATIVE,
    CLOSE_SHARE,
    FAR_RELATIVE,
    RETRANSMISSION_OFFSET,
)
from sojourn.reproduction.statements import GOALS, Finding, Row, Statement, all_complete

#: The narrow goals; settled before the table, when a trial with other ticks had been seen.
GOODPUT = 0.01
SRTT = 0.02
NEAR_FACTOR = 1.1
NEAR_OFFSET = 3
SHARE = 0.98

#: Experiments that repeat a cell with other starts or draws, and which of a grid's keys says so.
CHAOTIC = {"beside-bbr": "flows.1.start", "ack-loss-half": "seed"}
#: What loses acknowledgments or draws.
_DRAWN = ("ack-loss", "aqm", "ecn")


def _complete(rows: Sequence[Row], belongs: Callable[[Row], bool]) -> list[Row]:
    """The rows of the comparison that belong; all of the table's have to be there."""
    table = filter(belongs, comparable())
    expected = sum(bool(row[column]) for row in table for column in COMPARED)
    return all_complete(filter(belongs, rows), expected)


def by_flow(rows: Sequence[Row]) -> list[list[Row]]:
    """The values of each flow."""
    flows: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        flows.setdefault(tuple(row[name] for name in KEYS), []).append(row)
    return list(flows.values())


def repeated(row: Row) -> bool:
    """Whether it is of a cell with several starts or draws."""
    return row["experiment"] in CHAOTIC


def _steady(row: Row) -> bool:
    """Whether it is of a single flow over a FIFO, and nothing of it is drawn."""
    return not repeated(row) and row["experiment"] not in _DRAWN


def meets_goal(row: Row) -> bool:
    """Whether a row meets the narrow goal; times of completion have goodput's."""
    kernel, measured = row["published"], row["measured"]
    if row["metric"] == "retrans":
        low, high = sorted((kernel, measured))
        return bool(high <= NEAR_FACTOR * low + NEAR_OFFSET)
    return _off(row) <= (SRTT if row["metric"] == "mean_srtt" else GOODPUT)


def _all_near(rows: Sequence[Row]) -> Finding:
    flows = by_flow(_complete(rows, lambda row: not repeated(row)))
    met = sum(all(map(meets_goal, flow)) for flow in flows)
    return Finding(met >= SHARE * len(flows), f"{met} of {len(flows)}")


def _off(row: Row) -> float:
    return float(abs(row["measured"] - row["published"]) / row["published"])


def _near(row: Row) -> bool:
    if row["metric"] == "retrans":
        low, high = sorted((row["published"], row["measured"]))
        return bool(high <= CLOSE_FACTOR * low + RETRANSMISSION_OFFSET)
    return _off(row) <= CLOSE_RELATIVE


def _close(rows: Sequence[Row]) -> Finding:
    flows = by_flow(_complete(rows, _steady))
    met = sum(all(map(_near, flow)) for flow in flows)
    far = sum(any(r["metric"] != "retrans" and _off(r) > FAR_RELATIVE for r in f) for f in flows)
    return Finding(
        met >= CLOSE_SHARE * len(flows) and far == 0,
        f"{met} of {len(flows)}, {far} off by more than {FAR_RELATIVE:.0%}",
    )


def _cell(row: Row) -> tuple[str, ...]:
    """What is repeated: the row without what differs between repetitions."""
    changes = json.loads(row["changes"])
    changes.pop(CHAOTIC[row["experiment"]])
    return row["experiment"], json.dumps(changes), row["flow"], row["cca"], row["metric"]


def _inside(rows: Sequence[Row]) -> Finding:
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in _complete(rows, repeated):
        cells.setdefault(_cell(row), []).append(row)
    met = [_within(cell) for cell in cells.values()]
    return Finding(all(met), f"{sum(met)} of {len(met)} values")


def _within(repetitions: Sequence[Row]) -> bool:
    """Whether the simulator's median is inside the kernel's range, or near its median."""
    kernel = [row["published"] for row in repetitions]
    ours = median(row["measured"] for row in repetitions)
    typical = {**repetitions[0], "published": median(kernel), "measured": ours}
    return min(kernel) <= ours <= max(kernel) or _near(typical)


STATEMENTS = (
    Statement(
        "near",
        GOALS,
        "The simulator does as the kernel",
        f"{SHARE:.0%} of the flows: goodput and completion within {GOODPUT:.0%}, mean sRTT "
        f"within {SRTT:.0%}, retransmissions within a factor of {NEAR_FACTOR} (plus "
        f"{NEAR_OFFSET})",
        _all_near,
    ),
    Statement(
        "close",
        GOALS,
        "Single flows over FIFOs are close to the kernel's",
        f"{CLOSE_SHARE:.0%} of the cells: goodput, completion and mean sRTT within "
        f"{CLOSE_RELATIVE:.0%}, retransmissions within a factor of {CLOSE_FACTOR} (plus "
        f"{RETRANSMISSION_OFFSET}); none off by more than {FAR_RELATIVE:.0%}",
        _close,
    ),
    Statement(
        "inside",
        GOALS,
        "Flows beside others or with half of their ACKs lost are inside the kernel's range",
        f"every value: the median over five starts or draws inside the kernel's range of the same, "
        f"or within {CLOSE_RELATIVE:.0%} and a factor of {CLOSE_FACTOR} (plus "
        f"{RETRANSMISSION_OFFSET}) of its median",
        _inside,
    ),
)
