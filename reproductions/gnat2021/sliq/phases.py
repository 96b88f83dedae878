"""What is measured over time, in runs of which samples are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.campaign.cases import Sampled
from sojourn.metrics import RunData
from sojourn.metrics.columns import EPSILON, Samples
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.sliq.scenarios import document, sampled, seeds
from sojourn_reproductions.gnat2021.sliq.steps import SETTLES

#: Bytes of headers that raw goodput counts with each message; 66 by the report's text (card).
RAW_HEADER = 64
#: The packet error rates of section 3.3.5, and from when they hold, s.
PATH = ((0, "0 %"), (24, "10 %"), (48, "20 %"), (72, "10 %"), (96, "0 %"), (120, "0 %"))


def packets(data: RunData) -> float:
    """Data packets delivered."""
    return float(data.flow.samples["delivered_packets"].sum())


def path_changes(request: Request, seed: int = 1) -> Document:
    """The scenario of section 3.3.5."""
    steps = [{"at": f"{at} s", "value": loss} for at, loss in PATH[1:-1]]
    scenario = document("adaptive", request, loss_schedule={"kind": "steps", "steps": steps})
    return {**scenario, "warmup": "0 s", "seed": seed}


def over_seeds(request: Request) -> tuple[Sampled, ...]:
    """The runs of section 3.3.5."""
    return tuple(sampled(path_changes(request, seed)) for seed in seeds(request, random=True))


def _middle(runs: Sequence[RunData], of: Callable[[Samples], float]) -> float:
    return float(np.median([of(data.flow.samples) for data in runs]))


def _inside(samples: Samples, phase: int) -> NDArray[np.bool_]:
    """Samples of a phase, from 2 s after its change on."""
    begin = PATH[phase][0] + (SETTLES if phase else 0)
    return (samples.begins >= begin - EPSILON) & (samples.ends <= PATH[phase + 1][0] + EPSILON)


def groups(phase: int, mode: str, *runs: RunData) -> float:
    """Groups that were begun in a mode in a phase, %; median over the seeds."""

    def share(samples: Samples) -> float:
        inside = _inside(samples, phase)
        begun = {m: samples[f"{m}_groups"][inside, 0].sum() for m in ("arq", "coded", "fec")}
        return float(100 * begun[mode] / sum(begun.values()))

    return _middle(runs, share)


def raw_goodput(phase: int, *runs: RunData) -> float:
    """Messages delivered in a phase with their headers, Mbit/s; median over the seeds."""

    def rate(samples: Samples) -> float:
        inside = _inside(samples, phase)
        some = np.flatnonzero(inside & (samples["delivered_packets"][:, 0] > 0))
        time = samples.ends[some[-1]] - samples.begins[some[0]]
        bytes_ = samples["delivered_bytes"][inside, 0].sum()
        messages = samples["delivered_packets"][inside, 0].sum()
        return float(8e-6 * (bytes_ + RAW_HEADER * messages) / time)

    return _middle(runs, rate)
