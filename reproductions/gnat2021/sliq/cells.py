"""The cells of sections 3.1 to 3.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from sojourn.campaign.cases import Outcome
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.gnat2021.published import published, published_if_at_hand, value
from sojourn_reproductions.gnat2021.sliq import adaptive, changing, delays, outages, phases
from sojourn_reproductions.gnat2021.sliq.scenarios import (
    CONTROLS,
    SLIQ,
    buffer,
    case,
    document,
    key,
    metric,
    sampled,
    seeds,
    with_control,
)

LOSS, SPEED, DELAY = "sliq_packet_loss", "sliq_link_speed", "sliq_link_delay"
DELIVERED, BUFFERING = "sliq_packets_delivered", "sliq_dual_buffering"
DEADLINES, PATH = delays.TABLE, "aec_path_changes"
_DELAYS = (1, 3, 10, 30, 100, 300)


def cells(request: Request) -> Iterator[Cell]:
    """Every cell of the sections that are asked for."""
    for section, table, make in _TABLES:
        if request.touches(section) and (not request.tables or table in request.tables):
            yield from make(request)


_GOODPUT = partial(metric, "first_to_last_goodput_l7", 1.0)


def _controls(
    request: Request, section: str, table: str, row: str, values: Mapping[str, str], **path: Any
) -> Iterator[Cell]:
    """A cell for each control over LinkEm with these fields."""
    random = path.get("loss", "0 %") != "0 %"
    for column in CONTROLS:
        scenario = with_control(document("one-flow", request, **path), column)
        cases = [(case(scenario, seed),) for seed in seeds(request, random)]
        keys = key(section, table, row, column)
        yield Cell(keys, value(values, column), cases, _GOODPUT)


def _losses(request: Request) -> Iterator[Cell]:
    for row in published(LOSS):
        loss = f"{100 * float(row['per']):g} %"
        yield from _controls(request, "3.1.4", LOSS, f"per={row['per']}", row, loss=loss)


def _speeds(request: Request) -> Iterator[Cell]:
    for row in published(SPEED):
        rate = float(row["rate_mbit"])
        path = {"rate": f"{rate:g} Mbit/s", "delay": "1 ms", "buffer": buffer(rate, 1)}
        yield from _controls(request, "3.1.5", SPEED, f"rate_mbit={row['rate_mbit']}", row, **path)


def _delays(request: Request) -> Iterator[Cell]:
    known = {row["delay_ms"]: row for row in published_if_at_hand(DELAY)}
    for delay in _DELAYS:
        path = {"delay": f"{delay} ms", "buffer": buffer(10, delay)}
        row = known.get(str(delay), {})
        yield from _controls(request, "3.1.7", DELAY, f"delay_ms={delay}", row, **path)


def _delivered(section: str, changes: str, request: Request) -> Iterator[Cell]:
    for row in published(DELIVERED):
        if row["changes"] != changes:
            continue
        for column in SLIQ:
            scenario = with_control(document(f"{changes}-changes", request), column)
            keys = key(section, DELIVERED, f"changes={changes}", column)
            yield Cell(keys, value(row, column), [(sampled(scenario),)], phases.packets)


def _shares(request: Request) -> Iterator[Cell]:
    share = "first_control_share_l4"
    measures: Mapping[str, Callable[[Outcome], float | None]] = {
        "goodput_mbit": _GOODPUT,
        "cubic_share_percent": partial(metric, share, 100.0),
        "copa_share_percent": lambda o: _rest(metric(share, 100.0, o)),
    }
    for row in published(BUFFERING):
        scenario = document("buffering", request, buffer=f"{row['buffer_bytes']} B")
        for column, measure in measures.items():
            keys = key("3.2.6", BUFFERING, f"buffer_bytes={row['buffer_bytes']}", column)
            yield Cell(keys, value(row, column), [(case(scenario),)], measure)


def _rest(percent: float | None) -> float | None:
    return None if percent is None else 100 - percent


def _deadlines(request: Request) -> Iterator[Cell]:
    for row in published(DEADLINES):
        scenario = delays.by_deadline(request, int(row["deadline_ms"]))
        cases = [(case(scenario, seed),) for seed in seeds(request, random=True)]
        for column, measure in _ERROR_CONTROL.items():
            keys = key("3.3.4", DEADLINES, f"deadline_ms={row['deadline_ms']}", column)
            yield Cell(keys, value(row, column), cases, measure)


_ERROR_CONTROL: Mapping[str, Callable[[Outcome], float | None]] = {
    "efficiency_percent": partial(metric, "error_control_efficiency_l4", 100.0),
    "late_percent": partial(metric, "late_messages_l7", 100.0),
    "p995_delay_ms": partial(metric, "p995_message_delay_l7", 1.0),
    **adaptive.MODES,
}


def _path(request: Request) -> Iterator[Cell]:
    runs = [phases.over_seeds(request)]
    for index, row in enumerate(published(PATH)):
        keys = key("3.3.5", PATH, f"from_s={row['from_s']}", "actual_raw_goodput_mbit")
        measure = partial(phases.raw_goodput, index)
        yield Cell(keys, value(row, "actual_raw_goodput_mbit"), runs, measure)
        for column, counter in (("pure_arq_percent", "arq"), ("pure_fec_percent", "fec")):
            keys = key("3.3.5", PATH, f"from_s={row['from_s']}", column)
            yield Cell(keys, None, runs, partial(phases.groups, index, counter))


_TABLES: tuple[tuple[str, str, Callable[[Request], Iterator[Cell]]], ...] = (
    ("3.1.3", changing.SHARING, changing.sharing),
    ("3.1.4", LOSS, _losses),
    ("3.1.5", SPEED, _speeds),
    ("3.1.6", DELIVERED, partial(_delivered, "3.1.6", "speed")),
    ("3.1.6", changing.SPEED, changing.speed),
    ("3.1.7", DELAY, _delays),
    ("3.1.8", DELIVERED, partial(_delivered, "3.1.8", "delay")),
    ("3.1.8", changing.DELAY, changing.delay),
    ("3.1.9", changing.CAPACITY, changing.estimates),
    ("3.2.2", changing.DUAL, partial(changing.dual, "3.2.2", "dual-speed")),
    ("3.2.3", changing.DUAL, partial(changing.dual, "3.2.3", "dual-delay")),
    ("3.2.4", changing.DUAL, partial(changing.dual, "3.2.4", "dual-loss")),
    ("3.2.5", changing.DUAL, partial(changing.dual, "3.2.5", "dual-delay-and-loss")),
    ("3.2.6", BUFFERING, _shares),
    *((section, outages.OUTAGES, partial(outages.cells, section)) for section in outages.LENGTHS),
    ("3.3.2", adaptive.GOODPUT, adaptive.goodput),
    ("3.3.3", adaptive.EFFICIENCY, adaptive.efficiency),
    ("3.3.4", DEADLINES, _deadlines),
    ("3.3.5", PATH, _path),
)
TABLES = tuple(dict.fromkeys(table for _, table, _ in _TABLES))
