"""Cells of adaptive error control over a grid of losses and deadlines: 3.3.2 and 3.3.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from sojourn.campaign.cases import Case, Computed, Outcome
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.gnat2021.sliq import predicted
from sojourn_reproductions.gnat2021.sliq.phases import RAW_HEADER
from sojourn_reproductions.gnat2021.sliq.scenarios import case, document, key, metric

GOODPUT, EFFICIENCY = "aec_goodput", "aec_efficiency"
MEASURED, PREDICTED = "measured_percent", "predicted_percent"
RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
DEADLINES = (30, 50, 70, 90, 110, 130, 150, 170)
#: Share of the groups in each mode; the rest are coded ARQ.
MODES: Mapping[str, Callable[[Outcome], float | None]] = {
    "pure_arq_percent": partial(metric, "pure_arq_share_l4", 100.0),
    "pure_fec_percent": partial(metric, "pure_fec_share_l4", 100.0),
}
_PAYLOAD = 1184


def _raw(outcome: Outcome) -> float | None:
    return metric("first_to_last_goodput_l7", (_PAYLOAD + RAW_HEADER) / _PAYLOAD, outcome)


_LATE = partial(metric, "late_messages_l7", 100.0)
_OF_GOODPUT: Mapping[str, Callable[[Outcome], float | None]] = {
    "raw_goodput_mbit": _raw,
    "late_percent": _LATE,
    **MODES,
}
_USABLE = partial(metric, "error_control_efficiency_l4", 100.0)


def goodput(request: Request) -> Iterator[Cell]:
    """Raw goodput, late messages and modes (3.3.2)."""
    for rate, deadline, cases in _grid(request):
        for column, measure in _OF_GOODPUT.items():
            keys = key("3.3.2", GOODPUT, f"per={rate:g},deadline_ms={deadline}", column)
            yield Cell(keys, None, cases, measure)


def efficiency(request: Request) -> Iterator[Cell]:
    """Usable messages of the packets received (3.3.3), and what the plans promise."""
    for rate, deadline, cases in _grid(request):
        row = f"per={rate:g},deadline_ms={deadline}"
        yield Cell(key("3.3.3", EFFICIENCY, row, MEASURED), None, cases, _USABLE)
        promise = Computed.of(predicted.efficiency, per=rate, deadline_ms=deadline)
        yield Cell(key("3.3.3", EFFICIENCY, row, PREDICTED), None, [(promise,)], float)


def _grid(request: Request) -> Iterator[tuple[float, int, list[tuple[Case, ...]]]]:
    for deadline in DEADLINES:
        for rate in RATES:
            scenario = document("adaptive", request, loss=f"{100 * rate:g} %")
            scenario["flows"][0]["stream"]["deadline"] = f"{deadline} ms"
            seeds = range(1, 2 if request.quick else 6)
            yield rate, deadline, [(case(scenario, seed),) for seed in seeds]
