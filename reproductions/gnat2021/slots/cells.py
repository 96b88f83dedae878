"""The cells of sections 2.1, 2.2 and 2.4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sojourn import slotted
from sojourn.campaign.cases import Computed
from sojourn.errors import ScenarioError
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.gnat2021.multicast.best import Best
from sojourn_reproductions.gnat2021.overlay.experiments import Phase
from sojourn_reproductions.gnat2021.slots.best import best_of
from sojourn_reproductions.gnat2021.slots.models import RUNS, Run

TABLE = "slotted_multicast"
GOODPUT, DELAY = "goodput_mbit", "delay_ms"
#: The largest rate that all streams can have alike, which one exceeds where others have less; the
#: stream's where the sum of the utilities is largest.
COMMON, OPTIMUM = "common_mbit", "optimum_mbit"
#: Of a run: greatest mean delay of a sample; packets in the fullest queue of a stream at a node;
#: bytes of a message about queues; when it has settled, and how it varies then.
LATEST, QUEUED, SIGNAL, SETTLED = "late_ms", "queued", "signal_bytes", "settled_s"
NOISE = "noise_percent"
#: Coded packets of no use, and the share of coefficients in what is sent.
USELESS, COEFFICIENTS = "useless_percent", "coefficients_percent"


def simulated(run: Run) -> Computed:
    """The case of a run: it comes to the model's outcome."""
    return Computed.of(slotted.run, model=run.model)


def cells(request: Request) -> Iterator[Cell]:
    """Every cell of the sections that are asked for."""
    if request.tables and TABLE not in request.tables:
        return
    for run in RUNS:
        if not request.touches(run.section):
            continue
        if request.overrides:
            raise ScenarioError(f"--set: section {run.section} runs no scenario")
        case = simulated(run)
        for phase in run.phases:
            best = Computed.of(best_of, model=run.model, at=phase.begin)
            for index, received in enumerate(_receivers(run)):
                name = f"run={run.name} phase={phase.name} flow={received}"
                yield _cell(run, name, GOODPUT, (case,), partial(_goodput, phase, index))
                yield _cell(run, name, COMMON, (best,), partial(_common, run))
                yield _cell(run, name, OPTIMUM, (case, best), partial(_optimum, index))
                yield _cell(run, name, DELAY, (case,), partial(_delay, phase, index))
            name = f"run={run.name} phase={phase.name}"
            for column, measure in _of_run(run, phase).items():
                yield _cell(run, name, column, (case,), measure)


#: What a model's run comes to.
_Outcome = Mapping[str, Any]
_Measure = Callable[..., float | None]


def _cell(run: Run, row: str, column: str, cases: tuple[Computed, ...], measure: _Measure) -> Cell:
    keys = {"section": run.section, "table": TABLE, "row": row, "column": column}
    return Cell(keys, None, [cases], measure)


def _of_run(run: Run, phase: Phase) -> Mapping[str, _Measure]:
    """The columns of all streams together."""
    measures: dict[str, _Measure] = {
        LATEST: partial(_latest, phase),
        QUEUED: partial(_queued, run, phase),
        SIGNAL: _signal,
    }
    if run.section == "2.4":
        measures |= {SETTLED: partial(_settled, phase), NOISE: partial(_noise, phase)}
    if run.model.get("generation"):
        measures |= {USELESS: _useless, COEFFICIENTS: partial(_coefficients, run)}
    return measures


def _receivers(run: Run) -> list[str]:
    streams = enumerate(run.model["streams"])
    return [f"{number} to {node}" for number, stream in streams for node in stream["to"]]


def _inside(phase: Phase, outcome: _Outcome) -> np.ndarray:
    times = np.asarray(outcome["times"])
    return (times > phase.begin + 1e-9) & (times <= phase.end + 1e-9)


def _goodput(phase: Phase, index: int, outcome: _Outcome) -> float:
    rates = np.asarray(outcome["received"][index]["rates"])
    return float(rates[_inside(phase, outcome)].mean())


def _delays(phase: Phase, index: int, outcome: _Outcome) -> np.ndarray:
    delays = np.asarray(outcome["received"][index]["delays"], dtype=float)
    delays = delays[_inside(phase, outcome)]
    return delays[~np.isnan(delays)]


def _delay(phase: Phase, index: int, outcome: _Outcome) -> float | None:
    delays = _delays(phase, index, outcome)
    return float(delays.mean()) if len(delays) else None


def _latest(phase: Phase, outcome: _Outcome) -> float | None:
    count = len(outcome["received"])
    largest = [delays.max() for i in range(count) if len(delays := _delays(phase, i, outcome))]
    return float(max(largest)) if largest else None


def _queued(run: Run, phase: Phase, outcome: _Outcome) -> float:
    queued = np.asarray(outcome["queued"])[:, :, _inside(phase, outcome)].mean(axis=2)
    sources = {stream["from"] for stream in run.model["streams"]}
    inside = [node for node in range(run.model["nodes"]) if node not in sources]
    return float(queued[inside].max())


def _signal(outcome: _Outcome) -> float:
    return float(outcome["signal_bytes"])


def _smooth(outcome: _Outcome) -> np.ndarray:
    """Rates over a second, by receiver and second."""
    rates = np.asarray([received["rates"] for received in outcome["received"]])
    return rates[:, : rates.shape[1] // 10 * 10].reshape(len(rates), -1, 10).mean(axis=2)


def _settled(phase: Phase, outcome: _Outcome) -> float:
    """The second after which no receiver's rate leaves 25 % around its later mean."""
    rates = _smooth(outcome)
    late = rates[:, int(phase.begin) :].mean(axis=1, keepdims=True)
    away = np.flatnonzero((np.abs(rates / late - 1) > 0.25).any(axis=0))
    return float(away[-1] + 1) if len(away) else 0.0


def _noise(phase: Phase, outcome: _Outcome) -> float:
    """Standard deviation of the rates over seconds, per cent of the mean; the mean of receivers."""
    rates = _smooth(outcome)[:, int(phase.begin) : int(phase.end)]
    return float(100 * (rates.std(axis=1) / rates.mean(axis=1)).mean())


def _useless(outcome: _Outcome) -> float:
    received = outcome["received"]
    useless, packets = (sum(row[key] for row in received) for key in ("useless", "packets"))
    return float(100 * useless / packets)


def _coefficients(run: Run, outcome: _Outcome) -> float:
    del outcome
    bits = 8 * run.model["generation"]
    return float(100 * bits / (bits + run.model.get("packet_bits", 10_000.0)))


def _common(run: Run, found: Sequence[Any]) -> float:
    return min(Best(*found).common, run.model["streams"][0].get("ceiling", np.inf))


def _optimum(index: int, outcome: _Outcome, found: Sequence[Any]) -> float:
    return Best(*found).each[outcome["received"][index]["stream"]]
