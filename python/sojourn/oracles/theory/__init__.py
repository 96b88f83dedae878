"""Closed forms: what theory says beside what the simulator does.

Not a paper but the laws that any faithful TCP must obey; the published value of a cell is the
formula's. Mathis et al. 1997 for the square-root law, with the constant of independent losses
(1.31; 1.22 is that of periodic ones); the utilisation of paced Reno over a small buffer follows
from the areas of its sawtooth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

from sojourn.campaign.cases import Case, Outcome
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.reproduction.statements import GOALS, Finding, Row, Statement, all_complete
from sojourn.scenario import Document, apply_override, validated
from sojourn.sweeps.expand import plan

_MSS = 1448
_PACKET = 1500


@dataclass(frozen=True)
class _Law:
    name: str
    parameter: str
    unit: str
    value: float
    document: Document
    measure: Callable[[Outcome], float | None]


def _document(bottleneck: dict[str, Any], flow: dict[str, Any], seconds: int) -> Document:
    return {
        "name": "theory",
        "duration": f"{seconds} s",
        "warmup": f"{seconds // 10} s",
        "stack": "linux-6",
        "topology": {"kind": "dumbbell", "bottleneck": {"overhead": "0 B", **bottleneck}},
        "flows": [{"ack_every": 1, "offload": False, **flow}],
    }


def _throughput(outcome: Outcome) -> float | None:
    return _flow(outcome, "mean_throughput_l4")


def _flow(outcome: Outcome, metric: str) -> float | None:
    value: float | None = outcome["flows"][0]["metrics"][metric]
    return value


def _queueing_delay(outcome: Outcome) -> float | None:
    link = next(link for link in outcome["links"] if link["id"] == "bottleneck")
    value: float | None = link["metrics"]["mean_qdisc_delay_l2"]
    return value


def _utilisation(rate_mbit: float, outcome: Outcome) -> float | None:
    throughput = _throughput(outcome)
    return None if throughput is None else throughput / (rate_mbit * _MSS / _PACKET)


def _square_root_law(p: float) -> _Law:
    """Reno over independent losses, far from any queue: W = 1.31 / sqrt(p) on average."""
    rtt = 0.1
    document = _document(
        {"rate": "10 Gbit/s", "loss": f"{p * 100:g} %"},
        {"cca": "reno", "rtt": f"{rtt * 1e3:g} ms"},
        seconds=3000,
    )
    rate = 1.31 / sqrt(p) * _MSS * 8 / rtt / 1e6
    return _Law("square-root law", f"p = {p:g}", "Mbit/s", rate, document, _throughput)


def _paced_reno(buffer: float) -> _Law:
    """Paced Reno over a buffer of so many BDPs (of 200 packets): U = 3/4 (1+b)^2 / (1+b+b^2)."""
    packets = 200
    document = _document(
        {"rate": "24 Mbit/s", "queue": {"kind": "fifo", "limit": f"{buffer * packets:g} packets"}},
        {"cca": "reno", "rtt": "100 ms", "host_queue": "fq"},
        seconds=600,
    )
    share = 0.75 * (1 + buffer) ** 2 / (1 + buffer + buffer**2)
    measure = partial(_utilisation, 24.0)
    return _Law("paced Reno's utilisation", f"b = {buffer:g}", "share", share, document, measure)


def _fixed_window(window: int) -> Iterator[_Law]:
    """A fixed window on 12 Mbit/s (1 ms per packet) and 40 ms."""
    document = _document(
        {"rate": "12 Mbit/s", "queue": {"kind": "fifo", "limit": "1000 packets"}},
        {"cca": {"kind": "fixed-window", "window": f"{window} packets"}, "rtt": "40 ms"},
        seconds=60,
    )
    round_trip = max(window, 41)
    rate = window * _MSS * 8 / round_trip / 1e3
    name = f"W = {window}"
    yield _Law("fixed window's throughput", name, "Mbit/s", rate, document, _throughput)
    if window > 41:
        wait = float(window - 41)
        yield _Law("fixed window's queueing delay", name, "ms", wait, document, _queueing_delay)


def _laws() -> Iterator[_Law]:
    for p in (1e-4, 3e-4, 1e-3, 3e-3):
        yield _square_root_law(p)
    for buffer in (0.1, 0.25, 0.5, 1.0):
        yield _paced_reno(buffer)
    for window in (20, 60, 100):
        yield from _fixed_window(window)


def _cells(request: Request) -> Iterator[Cell]:
    for law in _laws():
        for override in request.overrides:
            apply_override(law.document, override)
        cases = [(Case.of(point.canonical),) for point in plan(validated(law.document))]
        keys = {"law": law.name, "parameter": law.parameter, "unit": law.unit}
        yield Cell(keys, law.value, cases, law.measure)


def _holds(tolerance: float, *laws: str) -> Callable[[Sequence[Row]], Finding]:
    """Whether the largest error of some laws is within ``tolerance``."""

    def check(rows: Sequence[Row]) -> Finding:
        expected = sum(law.name in laws for law in _laws())
        found = [row for law in laws for row in all_complete(rows, 1, law=law)]
        if len(found) < expected:
            raise KeyError(f"all {expected} values of {' and '.join(laws)}")
        errors = [abs(row["measured"] / row["published"] - 1) for row in found]
        return Finding(max(errors) <= tolerance, f"largest error {max(errors):.2%}")

    return check


#: How near the simulator is to come; the card says what of it was settled before the first run.
STATEMENTS = (
    Statement(
        "square-root",
        GOALS,
        "Reno's throughput over independent losses follows the square-root law",
        "within 10 %",
        _holds(0.1, "square-root law"),
    ),
    Statement(
        "sawtooth",
        GOALS,
        "Paced Reno's utilisation is the area of its sawtooth",
        "within 2 %",
        _holds(0.02, "paced Reno's utilisation"),
    ),
    Statement(
        "fixed-window",
        GOALS,
        "A fixed window's throughput and queueing delay are exact",
        "within 0.1 %",
        _holds(0.001, "fixed window's throughput", "fixed window's queueing delay"),
    ),
)

THEORY = Paper(
    name="theory",
    title="Closed forms: theory beside the simulator",
    keys=("law", "parameter", "unit"),
    labels=("parameter",),
    tables=("laws",),
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=_cells,
    statements=STATEMENTS,
)
