"""The conformance of one control: it does what every control should.

A bottleneck of 20 Mbit/s with a buffer of one bandwidth-delay product and a round trip of 40 ms, as
in the suite that every registered control is put through (``docs/conformance.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from sojourn.result import Result

_RATE = 20.0
#: Share of the rate that is left for payload: 1448 of 1514 bytes.
_PAYLOAD = _RATE * 1448 / 1514
_OUTAGE = {
    "kind": "steps",
    "steps": [{"at": "10 s", "value": "100 %"}, {"at": "12 s", "value": "0 %"}],
}

Control = str | type | Mapping[str, Any]


def conformance(cca: Control) -> pl.DataFrame:
    """One row per check: ``check``, ``value``, the ``least`` and the ``most`` that is required, and
    whether it ``holds``.
    """
    rows = []
    for name, (measure, least, most) in _CHECKS.items():
        value = measure(cca)
        rows.append((name, value, least, most, least <= value <= most))
    return pl.DataFrame(rows, orient="row", schema=["check", "value", "least", "most", "holds"])


def _run(cca: Control, seconds: int = 30, flows: int = 1, **bottleneck: Any) -> Result:
    from sojourn.engine import run

    starts = [f"{10 * index} s" for index in range(flows)]
    link = {"rate": f"{_RATE} Mbit/s", "queue": {"kind": "fifo", "limit": "1 bdp"}}
    return run(
        {
            "duration": f"{seconds} s",
            "topology": {"kind": "dumbbell", "bottleneck": link | bottleneck},
            "flows": [{"cca": cca, "rtt": "40 ms", "start": start} for start in starts],
        }
    )


def _share(result: Result, begin: float, flow: int = 0) -> float:
    """Of the link's payload rate, from ``begin`` to the end."""
    samples = result.series.flows.filter(pl.col("flow") == flow, pl.col("time") > begin + 1e-6)
    seconds = float(samples["time"].to_numpy().max()) - begin
    return float(samples["delivered_bytes"].sum()) * 8e-6 / seconds / _PAYLOAD


def _in_flight(result: Result) -> float:
    samples = result.series.flows.filter(pl.col("time") > 5)
    return float(samples["in_flight_time"].sum() / 25)


def _same_again(cca: Control) -> float:
    first, second = (_run(cca, loss="1 %").series.flows for _ in range(2))
    return float(first.equals(second))


def _loss(cca: Control) -> float:
    return _in_flight(_run(cca, loss="1 %")) / _in_flight(_run(cca))


def _timeout(cca: Control) -> float:
    result = _run(cca, loss_schedule=_OUTAGE)
    return _share(result, 20.0) if result.series.flows["rtos"].sum() else 0.0


def _fairness(cca: Control) -> float:
    result = _run(cca, 120, 2)
    a, b = (_share(result, 60.0, flow) for flow in range(2))
    return (a + b) ** 2 / (2 * (a * a + b * b))


#: How each is measured, and the bounds that it must keep.
_CHECKS: dict[str, tuple[Callable[[Control], float], float, float]] = {
    "clean link": (lambda cca: _share(_run(cca), 5.0), 0.9, math.inf),
    "same again": (_same_again, 1.0, 1.0),
    "loss": (_loss, 0.0, 0.9),
    "timeout": (_timeout, 0.8, math.inf),
    "fairness": (_fairness, 0.9, math.inf),
}
