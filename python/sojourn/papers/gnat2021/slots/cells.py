"""The cells of sections 2.1, 2.2 and 2.4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from sojourn import slotted
from sojourn.errors import ScenarioError
from sojourn.papers.gnat2021.begun import Begun, after
from sojourn.papers.gnat2021.multicast.bounds import Best, Stream, best
from sojourn.papers.gnat2021.overlay.experiments import Phase
from sojourn.papers.gnat2021.overlay.polytope import Arc
from sojourn.papers.gnat2021.slots.models import RUNS, Run, rate_at
from sojourn.papers.paper import Cell, Request

TABLE = "slotted_multicast"
GOODPUT, DELAY = "goodput_mbit", "delay_ms"
#: The most that all streams can have at once; the stream's where the utilities' sum is largest.
BOUND, OPTIMUM = "bound_mbit", "optimum_mbit"
#: Of a run: greatest mean delay of a sample; packets in the fullest queue of a stream at a node;
#: bytes of a message about queues; when it has settled, and how it varies then.
LATEST, QUEUED, SIGNAL, SETTLED = "late_ms", "queued", "signal_bytes", "settled_s"
NOISE = "noise_percent"
#: Coded packets of no use, and the share of coefficients in what is sent.
USELESS, COEFFICIENTS = "useless_percent", "coefficients_percent"


def cells(request: Request) -> Iterator[Cell]:
    """Every cell of the sections that are asked for."""
    if request.tables and TABLE not in request.tables:
        return
    begin_all = cache(partial(_begin_all, request))
    for run in RUNS:
        if not request.touches(run.section):
            continue
        if request.overrides:
            raise ScenarioError(f"--set: section {run.section} runs no scenario")
        for phase in run.phases:
            for index, received in enumerate(_receivers(run)):
                name = f"run={run.name} phase={phase.name} flow={received}"
                columns = {GOODPUT: _goodput, BOUND: _bound, OPTIMUM: _optimum, DELAY: _delay}
                yield from _cells(begin_all, run, name, columns, phase, index)
            name = f"run={run.name} phase={phase.name}"
            of_run = {LATEST: _latest, QUEUED: _queued, SIGNAL: _signal}
            if run.section == "2.4":
                of_run |= {SETTLED: _settled, NOISE: _noise}
            if run.model.get("generation"):
                of_run |= {USELESS: _useless, COEFFICIENTS: _coefficients}
            yield from _cells(begin_all, run, name, of_run, phase, 0)


Measure = Callable[[Run, Phase, int], float | None]


def _cells(
    begin_all: Callable[[], None],
    run: Run,
    name: str,
    columns: Mapping[str, Measure],
    phase: Phase,
    index: int,
) -> Iterator[Cell]:
    for column, measure in columns.items():
        keys = {"section": run.section, "table": TABLE, "row": name, "column": column}
        made = partial(after, begin_all, partial(measure, run, phase, index))
        yield Cell(keys, None, [()], made)


def _receivers(run: Run) -> list[str]:
    streams = enumerate(run.model["streams"])
    return [f"{number} to {node}" for number, stream in streams for node in stream["to"]]


def _begin_all(request: Request) -> None:
    for run in RUNS:
        if request.touches(run.section):
            begin(run)


@cache
def begin(run: Run) -> Begun[dict[str, Any]]:
    """The outcome of a run, begun if it was not yet."""
    return Begun(lambda: slotted.run(run.model))


def outcome(run: Run) -> dict[str, Any]:
    """The outcome of a run."""
    return begin(run).result()


def _inside(run: Run, phase: Phase) -> np.ndarray:
    times = np.asarray(outcome(run)["times"])
    return (times > phase.begin + 1e-9) & (times <= phase.end + 1e-9)


def _goodput(run: Run, phase: Phase, index: int) -> float:
    rates = np.asarray(outcome(run)["received"][index]["rates"])
    return float(rates[_inside(run, phase)].mean())


def _delays(run: Run, phase: Phase, index: int) -> np.ndarray:
    delays = np.asarray(outcome(run)["received"][index]["delays"], dtype=float)
    delays = delays[_inside(run, phase)]
    return delays[~np.isnan(delays)]


def _delay(run: Run, phase: Phase, index: int) -> float | None:
    delays = _delays(run, phase, index)
    return float(delays.mean()) if len(delays) else None


def _latest(run: Run, phase: Phase, index: int) -> float | None:
    del index
    count = len(outcome(run)["received"])
    largest = [delays.max() for i in range(count) if len(delays := _delays(run, phase, i))]
    return float(max(largest)) if largest else None


def _queued(run: Run, phase: Phase, index: int) -> float:
    del index
    queued = np.asarray(outcome(run)["queued"])[:, :, _inside(run, phase)].mean(axis=2)
    sources = {stream["from"] for stream in run.model["streams"]}
    inside = [node for node in range(run.model["nodes"]) if node not in sources]
    return float(queued[inside].max())


def _signal(run: Run, phase: Phase, index: int) -> float:
    del phase, index
    return float(outcome(run)["signal_bytes"])


def _smooth(run: Run) -> np.ndarray:
    """Rates over a second, by receiver and second."""
    rates = np.asarray([received["rates"] for received in outcome(run)["received"]])
    return rates[:, : rates.shape[1] // 10 * 10].reshape(len(rates), -1, 10).mean(axis=2)


def _settled(run: Run, phase: Phase, index: int) -> float:
    """The second after which no receiver's rate leaves 25 % around its later mean."""
    del index
    rates = _smooth(run)
    late = rates[:, int(phase.begin) :].mean(axis=1, keepdims=True)
    away = np.flatnonzero((np.abs(rates / late - 1) > 0.25).any(axis=0))
    return float(away[-1] + 1) if len(away) else 0.0


def _noise(run: Run, phase: Phase, index: int) -> float:
    """Standard deviation of the rates over seconds, per cent of the mean; the mean of receivers."""
    del index
    rates = _smooth(run)[:, int(phase.begin) : int(phase.end)]
    return float(100 * (rates.std(axis=1) / rates.mean(axis=1)).mean())


def _useless(run: Run, phase: Phase, index: int) -> float:
    del phase, index
    received = outcome(run)["received"]
    useless, packets = (sum(row[key] for row in received) for key in ("useless", "packets"))
    return float(100 * useless / packets)


def _coefficients(run: Run, phase: Phase, index: int) -> float:
    del phase, index
    bits = 8 * run.model["generation"]
    return float(100 * bits / (bits + run.model.get("packet_bits", 10_000.0)))


def _bound(run: Run, phase: Phase, index: int) -> float:
    del index
    return min(_best(run, phase).common, run.model["streams"][0].get("ceiling", np.inf))


def _optimum(run: Run, phase: Phase, index: int) -> float:
    return _best(run, phase).each[outcome(run)["received"][index]["stream"]]


@cache
def _best(run: Run, phase: Phase) -> Best:
    """What the streams can have in an interval, Mbit/s."""
    links = []
    for link in run.model["links"]:
        rate = rate_at(link, phase.begin)
        one, other = str(link["from"]), str(link["to"])
        links += [Arc((one, other), rate, 0.0), Arc((other, one), rate, 0.0)]
    sent = [
        Stream(
            str(stream["from"]),
            tuple(map(str, stream["to"])),
            stream.get("priority", 1.0),
            stream.get("ceiling", np.inf),
        )
        for stream in run.model["streams"]
    ]
    return best(links, sent)
