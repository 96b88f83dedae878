"""The cells of chapter 4: goodput and delay of each group of flows in each interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import itemgetter

from sojourn.campaign.cases import AnyCase, Computed, Sampled
from sojourn.reproduction.paper import Cell, Request
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.overlay import runs
from sojourn_reproductions.gnat2021.overlay.experiments import EXPERIMENTS, Experiment, Phase, Run
from sojourn_reproductions.gnat2021.overlay.oracle import shares
from sojourn_reproductions.gnat2021.overlay.sets import best_shares
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.rows import row_name

TABLE = "overlay_goodput"
GOODPUT, ORACLE, DELAY = "goodput_mbit", "oracle_mbit", "delay_ms"
#: Per cent of what a flow offers that it gets, where the best set of flows is known.
SERVED = "served_percent"
#: Of datagrams: what does not arrive, admitted or not; what comes after one sent later.
LOSS, REORDERED = "loss_percent", "reordered_percent"
#: The same flows without the overlay.
PLAIN, PLAIN_DELAY = "shortest_path_mbit", "shortest_path_delay_ms"
PLAIN_LOSS = "shortest_path_loss_percent"
_ORDER = (GOODPUT, ORACLE, PLAIN, DELAY, PLAIN_DELAY, LOSS, PLAIN_LOSS, REORDERED, SERVED)


#: The cases that a cell needs, and what it makes of them.
_Measured = tuple[tuple[AnyCase, ...], Callable[..., float | None]]


def cells(request: Request) -> Iterator[Cell]:
    """Goodput, and of datagrams delay, loss and order."""
    if request.tables and TABLE not in request.tables:
        return
    for experiment in EXPERIMENTS:
        if request.touches(experiment.section):
            for run in experiment.runs:
                yield from _of_run(experiment, run, request)


def _of_run(experiment: Experiment, run: Run, request: Request) -> Iterator[Cell]:
    scenario = runs.document(experiment, run, request)
    with_, bare = runs.sampled(scenario), runs.sampled(runs.plain(scenario))
    held = (experiment.elastic or experiment.enumerated) and not run.file
    of_sets = best_shares if experiment.enumerated else shares
    for phase in run.phases:
        best = Computed.of(of_sets, canonical=scenario, at=phase.begin)
        for label in _labels(scenario, phase):
            name = row_name(run.name, phase.name, f"flows={label}")
            keys = {"section": experiment.section, "table": TABLE, "row": name}
            known = _expected().get((experiment.section, run.name, phase.name, label))
            columns = _measures(scenario, label, phase, with_, bare)
            if held and _is_managed(scenario, label):
                columns[ORACLE] = ((best,), itemgetter(label))
            if experiment.enumerated:
                columns[SERVED] = ((with_,), partial(runs.served, label, phase))
            for column in _ORDER:
                if column in columns:
                    wanted = known if column == GOODPUT else None
                    cases, measure = columns[column]
                    yield Cell({**keys, "column": column}, wanted, [cases], measure)


def _measures(
    scenario: Document, label: str, phase: Phase, with_: Sampled, bare: Sampled
) -> dict[str, _Measured]:
    """How the columns of a row are measured, with the overlay and without."""
    made: dict[str, _Measured] = {}

    def of(case: Sampled, column: str, measure: Callable[..., float | None]) -> None:
        made[column] = ((case,), partial(measure, label, phase))

    of(with_, GOODPUT, runs.goodput)
    of(bare, PLAIN, runs.goodput)
    if is_udp(scenario, label):
        of(with_, DELAY, runs.delay)
        of(bare, PLAIN_DELAY, runs.delay)
        of(with_, LOSS, runs.loss)
        of(bare, PLAIN_LOSS, runs.loss)
        of(with_, REORDERED, runs.reordering)
    return made


def _labels(scenario: Document, phase: Phase) -> list[str]:
    """The groups that are on in all of an interval."""
    from sojourn.quantity import number

    flows = scenario["flows"]
    on = [
        flow["label"]
        for flow in flows
        if number(flow["start"]) <= phase.begin and phase.end <= number(flow["stop"])
    ]
    return list(dict.fromkeys(on))


def is_udp(scenario: Document, label: str) -> bool:
    """Whether flows of a label send datagrams."""
    return any(f["label"] == label and f["transport"] == "udp" for f in scenario["flows"])


def _is_managed(scenario: Document, label: str) -> bool:
    return any(flow["label"] == label and "service" in flow for flow in scenario["flows"])


@cache
def _expected() -> dict[tuple[str, str, str, str], float]:
    """What the report expects, by section, run, interval and flows."""
    return {
        (row["section"], row["run"], row["phase"], row["flows"]): float(row["goodput_mbit"])
        for row in published(TABLE)
    }
