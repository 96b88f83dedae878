"""The cells of sections 4.2 to 4.6: of each stream and receiver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

import numpy as np

from sojourn.papers.gnat2021.begun import Measure, after
from sojourn.papers.gnat2021.multicast.bounds import Best, best_of, streams
from sojourn.papers.gnat2021.multicast.experiments import EXPERIMENTS, Experiment, Run, document
from sojourn.papers.gnat2021.overlay import runs
from sojourn.papers.gnat2021.overlay.experiments import Phase
from sojourn.papers.gnat2021.rows import row_name
from sojourn.papers.paper import Cell, Request
from sojourn.scenario import Document

TABLE = "multicast_goodput"
GOODPUT, DELAY, DELIVERED = "goodput_mbit", "delay_ms", "delivered_percent"
#: The most that all streams can have at once; the stream's where the utilities' sum is largest.
BOUND, OPTIMUM = "bound_mbit", "optimum_mbit"
LEAST, MOST = "least_mbit", "most_mbit"
#: Standard deviation over seconds, per cent of the mean.
NOISE = "noise_percent"
#: What the report observes, Mbit/s of each flow, by section and run.
_OBSERVED = {
    ("4.2", ""): 42.0,
    ("4.3", ""): 0.85,
    ("4.5", "all"): 2.2,
    ("4.5", "near"): 12.0,
    **{("4.6", f"{variant} tree"): 0.144 for variant in ("web", "turned", "spread")},
}


def cells(request: Request) -> Iterator[Cell]:
    """Every cell of the sections that are asked for."""
    if request.tables and TABLE not in request.tables:
        return
    begin = cache(partial(_begin_all, request))
    for experiment in EXPERIMENTS:
        if request.touches(experiment.section):
            for run in experiment.runs:
                yield from _of_run(experiment, run, request, begin)


def flows(scenario: Document) -> Mapping[str, list[int]]:
    """The numbers of the flows of each stream and receiver."""
    found: dict[str, list[int]] = {}
    for number, flow in enumerate(scenario["flows"]):
        found.setdefault(f"{flow['label']} to {flow['to']}", []).append(number)
    return found


def _of_run(
    experiment: Experiment, run: Run, request: Request, begin: Callable[[], None]
) -> Iterator[Cell]:
    scenario = document(run, request)
    named = flows(scenario)
    if run.together:
        named = {"all": [number for numbers in named.values() for number in numbers]}
    for phase in run.phases:
        for flow, numbers in named.items():
            keys = {"section": experiment.section, "table": TABLE}
            keys["row"] = row_name(run.name, phase.name, f"flow={flow}")
            measures: dict[str, Measure] = {
                GOODPUT: partial(_goodput, scenario, numbers, phase, np.mean)
            }
            if run.bounded:
                best = partial(_best, run, tuple(request.overrides), phase.begin)
                measures[BOUND] = partial(_bound, best)
                measures[OPTIMUM] = partial(_optimum, best, scenario, numbers)
            measures[DELAY] = partial(_delay, scenario, numbers, phase)
            measures[DELIVERED] = partial(_delivered, scenario, numbers)
            if not run.together:
                measures[NOISE] = partial(_noise, scenario, numbers, phase)
            if run.together:
                measures[LEAST] = partial(_goodput, scenario, numbers, phase, np.min)
                measures[MOST] = partial(_goodput, scenario, numbers, phase, np.max)
            known = None if "small" in flow else _OBSERVED.get((experiment.section, run.name))
            for column, measure in measures.items():
                wanted = known if column == GOODPUT else None
                made = partial(after, begin, measure)
                yield Cell({**keys, "column": column}, wanted, [()], made)


def _begin_all(request: Request) -> None:
    for experiment in EXPERIMENTS:
        if request.touches(experiment.section):
            for run in experiment.runs:
                runs.begin(document(run, request))


def rates(scenario: Document, phase: Phase) -> np.ndarray:
    """Payload that each flow gets through in an interval, Mbit/s."""
    samples = runs.begin(scenario).result().flow.samples
    inside = (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)
    time = float((samples.ends - samples.begins)[inside].sum())
    return np.asarray(8e-6 * samples["in_order_bytes"][inside].sum(axis=0) / time)


def _goodput(
    scenario: Document, numbers: list[int], phase: Phase, of: Callable[[np.ndarray], float]
) -> float:
    return float(of(rates(scenario, phase)[numbers]))


def _noise(scenario: Document, numbers: list[int], phase: Phase) -> float | None:
    seconds = np.arange(phase.begin, phase.end)
    found = [rates(scenario, Phase("", at, at + 1))[numbers].mean() for at in seconds]
    mean = float(np.mean(found))
    return 100 * float(np.std(found)) / mean if mean else None


def _delay(scenario: Document, numbers: list[int], phase: Phase) -> float | None:
    samples = runs.begin(scenario).result().flow.samples
    inside = (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)
    columns = ("one_way_delay_sum", "one_way_delay_count")
    total, count = (samples[name][inside][:, numbers].sum() for name in columns)
    return float(1e3 * total / count) if count else None


def _delivered(scenario: Document, numbers: list[int]) -> float | None:
    """Packets that came to these receivers, of those that came to the one of their stream that got
    most, in the whole run.
    """
    packets = runs.begin(scenario).result().flow.samples["delivered_packets"].sum(axis=0)
    streams: dict[tuple[str, str], list[int]] = {}
    for number, flow in enumerate(scenario["flows"]):
        streams.setdefault((flow["label"], flow["from"]), []).append(number)
    most = np.zeros(len(packets))
    for members in streams.values():
        most[members] = packets[members].max()
    total = float(most[numbers].sum())
    return 100 * float(packets[numbers].sum()) / total if total else None


@cache
def _best(run: Run, overrides: tuple[str, ...], at: float) -> Best:
    return best_of(document(run, Request(overrides=overrides)), at)


def _bound(best: Callable[[], Best]) -> float:
    return best().common


def _optimum(best: Callable[[], Best], scenario: Document, numbers: list[int]) -> float | None:
    """The mean of flows."""
    each = dict(zip(streams(scenario), best().each, strict=True))
    labels = [scenario["flows"][number]["label"] for number in numbers]
    return float(np.mean([each[label] for label in labels])) if best().common else None
