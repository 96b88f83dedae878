"""The cells of sections 4.2 to 4.6: of each stream and receiver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sojourn.campaign.cases import AnyCase, Computed, Sampled
from sojourn.metrics import RunData
from sojourn.reproduction.paper import Cell, Request
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.multicast.best import Best, best_of, streams
from sojourn_reproductions.gnat2021.multicast.experiments import (
    EXPERIMENTS,
    Experiment,
    Run,
    document,
)
from sojourn_reproductions.gnat2021.overlay.experiments import Phase
from sojourn_reproductions.gnat2021.overlay.runs import sampled
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.rows import row_name

TABLE = "multicast_goodput"
GOODPUT, DELAY, DELIVERED = "goodput_mbit", "delay_ms", "delivered_percent"
#: The largest rate that all streams can have alike, which one exceeds where others have less; the
#: stream's where the sum of the utilities is largest.
COMMON, OPTIMUM = "common_mbit", "optimum_mbit"
LEAST, MOST = "least_mbit", "most_mbit"
#: Standard deviation over seconds, per cent of the mean.
NOISE = "noise_percent"


def cells(request: Request) -> Iterator[Cell]:
    """Every cell of the sections that are asked for."""
    if request.tables and TABLE not in request.tables:
        return
    for experiment in EXPERIMENTS:
        if request.touches(experiment.section):
            for run in experiment.runs:
                yield from _of_run(experiment, run, request)


def known(section: str, run: str, flow: str) -> float | None:
    """What the report observes or expects of a flow, Mbit/s, by its name of the run."""
    for row in published(TABLE):
        if (row["section"], row["run"]) == (section, run) and row["flow"] in ("", flow):
            return float(row[GOODPUT])
    return None


def flows(scenario: Document) -> Mapping[str, list[int]]:
    """The numbers of the flows of each stream and receiver."""
    found: dict[str, list[int]] = {}
    for number, flow in enumerate(scenario["flows"]):
        found.setdefault(f"{flow['label']} to {flow['to']}", []).append(number)
    return found


def _of_run(experiment: Experiment, run: Run, request: Request) -> Iterator[Cell]:
    scenario = document(run, request)
    case = sampled(scenario)
    named = flows(scenario)
    if run.together:
        named = {"all": [number for numbers in named.values() for number in numbers]}
    for phase in run.phases:
        best = Computed.of(best_of, canonical=scenario, at=phase.begin)
        for flow, numbers in named.items():
            keys = {"section": experiment.section, "table": TABLE}
            keys["row"] = row_name(run.name, phase.name, f"flow={flow}")
            reported = known(experiment.section, run.reported or run.name, flow)
            for column, (of, measure) in _measures(run, case, best, numbers, phase).items():
                wanted = reported if column == GOODPUT else None
                yield Cell({**keys, "column": column}, wanted, [(of,)], measure)


def _measures(
    run: Run, case: Sampled, best: Computed, numbers: list[int], phase: Phase
) -> Mapping[str, tuple[AnyCase, Callable[..., float | None]]]:
    """By column, the case that it is made of, and how."""
    made: dict[str, tuple[AnyCase, Callable[..., float | None]]] = {
        GOODPUT: (case, partial(_goodput, numbers, phase, np.mean))
    }
    if run.with_best:
        made[COMMON] = (best, _common)
        made[OPTIMUM] = (best, partial(_optimum, case.canonical, numbers))
    made[DELAY] = (case, partial(_delay, numbers, phase))
    made[DELIVERED] = (case, partial(_delivered, numbers))
    if not run.together:
        made[NOISE] = (case, partial(_noise, numbers, phase))
    if run.together:
        made[LEAST] = (case, partial(_goodput, numbers, phase, np.min))
        made[MOST] = (case, partial(_goodput, numbers, phase, np.max))
    return made


def rates(phase: Phase, data: RunData) -> np.ndarray:
    """Payload that each flow gets through in an interval, Mbit/s."""
    samples = data.flow.samples
    inside = (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)
    time = float((samples.ends - samples.begins)[inside].sum())
    return np.asarray(8e-6 * samples["in_order_bytes"][inside].sum(axis=0) / time)


def _goodput(
    numbers: list[int], phase: Phase, of: Callable[[np.ndarray], float], data: RunData
) -> float:
    return float(of(rates(phase, data)[numbers]))


def _noise(numbers: list[int], phase: Phase, data: RunData) -> float | None:
    seconds = np.arange(phase.begin, phase.end)
    found = [rates(Phase("", at, at + 1), data)[numbers].mean() for at in seconds]
    mean = float(np.mean(found))
    return 100 * float(np.std(found)) / mean if mean else None


def _delay(numbers: list[int], phase: Phase, data: RunData) -> float | None:
    samples = data.flow.samples
    inside = (samples.begins >= phase.begin - 1e-9) & (samples.ends <= phase.end + 1e-9)
    columns = ("one_way_delay_sum", "one_way_delay_count")
    total, count = (samples[name][inside][:, numbers].sum() for name in columns)
    return float(1e3 * total / count) if count else None


def _delivered(numbers: list[int], data: RunData) -> float | None:
    """Packets that came to these receivers, of those that came to the one of their stream that got
    most, in the whole run.
    """
    packets = data.flow.samples["delivered_packets"].sum(axis=0)
    streams: dict[tuple[str, str], list[int]] = {}
    for number, flow in enumerate(data.scenario["flows"]):
        streams.setdefault((flow["label"], flow["from"]), []).append(number)
    most = np.zeros(len(packets))
    for members in streams.values():
        most[members] = packets[members].max()
    total = float(most[numbers].sum())
    return 100 * float(packets[numbers].sum()) / total if total else None


def _common(found: Sequence[Any]) -> float:
    return Best(*found).common


def _optimum(scenario: Document, numbers: list[int], found: Sequence[Any]) -> float | None:
    """The mean of flows."""
    best = Best(*found)
    each = dict(zip(streams(scenario), best.each, strict=True))
    labels = [scenario["flows"][number]["label"] for number in numbers]
    return float(np.mean([each[label] for label in labels])) if best.common else None
