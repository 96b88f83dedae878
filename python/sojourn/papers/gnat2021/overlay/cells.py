"""The cells of chapter 4: goodput and delay of each group of flows in each interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

from sojourn.papers.gnat2021.begun import Measure, after
from sojourn.papers.gnat2021.overlay import runs
from sojourn.papers.gnat2021.overlay.experiments import EXPERIMENTS, Experiment, Phase, Run
from sojourn.papers.gnat2021.overlay.oracle import shares
from sojourn.papers.gnat2021.overlay.sets import best_shares
from sojourn.papers.gnat2021.reference import published
from sojourn.papers.gnat2021.rows import row_name
from sojourn.papers.paper import Cell, Request
from sojourn.scenario import Document

TABLE = "overlay_goodput"
GOODPUT, ORACLE, DELAY = "goodput_mbit", "oracle_mbit", "delay_ms"
#: Per cent of what a flow offers that it gets, where the best set of flows is known.
SERVED = "served_percent"
#: Of datagrams: what does not arrive, admitted or not; what comes after one sent later.
LOSS, REORDERED = "loss_percent", "reordered_percent"
#: The same flows without the overlay.
PLAIN, PLAIN_DELAY = "shortest_path_mbit", "shortest_path_delay_ms"
PLAIN_LOSS = "shortest_path_loss_percent"


def cells(request: Request) -> Iterator[Cell]:
    """Goodput, and of datagrams delay, loss and order."""
    if request.tables and TABLE not in request.tables:
        return
    begin = cache(partial(begin_all, request))
    for experiment in EXPERIMENTS:
        if request.touches(experiment.section):
            for run in experiment.runs:
                yield from _of_run(experiment, run, request, begin)


def _of_run(
    experiment: Experiment, run: Run, request: Request, begin: Callable[[], None]
) -> Iterator[Cell]:
    scenario = runs.document(experiment, run, request)
    for phase in run.phases:
        of_sets = best_shares if experiment.enumerated else shares
        best = cache(partial(of_sets, scenario, phase.begin))
        for label in _labels(scenario, phase):
            name = row_name(run.name, phase.name, f"flows={label}")
            keys = {"section": experiment.section, "table": TABLE, "row": name}
            known = _expected().get((experiment.section, run.name, phase.name, label))
            held = (experiment.elastic or experiment.enumerated) and not run.file
            columns = _measures(held, scenario, label, phase, best)
            if experiment.enumerated:
                columns[SERVED] = partial(runs.served, scenario, label, phase)
            for column, measure in columns.items():
                wanted = known if column == GOODPUT else None
                made = partial(after, begin, measure)
                yield Cell({**keys, "column": column}, wanted, [()], made)


def _measures(
    held: bool,
    scenario: Document,
    label: str,
    phase: Phase,
    best: Callable[[], Mapping[str, float]],
) -> dict[str, Measure]:
    """How each column of a row is measured; whether it is held to the optimum."""
    bare = runs.plain(scenario)
    made: dict[str, Measure] = {GOODPUT: partial(runs.goodput, scenario, label, phase)}
    if held and _is_managed(scenario, label):
        made[ORACLE] = lambda: best()[label]
    made[PLAIN] = partial(runs.goodput, bare, label, phase)
    if is_udp(scenario, label):
        made[DELAY] = partial(runs.delay, scenario, label, phase)
        made[PLAIN_DELAY] = partial(runs.delay, bare, label, phase)
        made[LOSS] = partial(runs.loss, scenario, label, phase)
        made[PLAIN_LOSS] = partial(runs.loss, bare, label, phase)
        made[REORDERED] = partial(runs.reordering, scenario, label, phase)
    return made


def begin_all(request: Request) -> None:
    """Begins every run that is asked for."""
    for experiment in EXPERIMENTS:
        if request.touches(experiment.section):
            for run in experiment.runs:
                scenario = runs.document(experiment, run, request)
                runs.begin(scenario)
                runs.begin(runs.plain(scenario))


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
