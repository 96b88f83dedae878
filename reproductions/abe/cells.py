"""What is measured in each experiment, and the runs that measure it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from sojourn import data
from sojourn.campaign.cases import Case, Outcome
from sojourn.errors import ScenarioError
from sojourn.quantity import number
from sojourn.reproduction.paper import Cell, Request
from sojourn.scenario import Document, apply_override, read, validated
from sojourn.sweeps.expand import Point, plan
from sojourn_reproductions.abe.values import BACKOFF, CONVERGENCE, KEYS, SHORT_FLOWS, TRACE

Measure = Callable[[Outcome], float | None]
#: A convergence that takes longer than this is not waited for, s.
PATIENCE = 60.0


def _of_flow(metric: str, outcome: Outcome) -> float | None:
    value: float | None = outcome["flows"][0]["metrics"][metric]
    return value


def _of_bottleneck(metric: str, outcome: Outcome) -> float | None:
    value: float | None = outcome["links"][0]["metrics"][metric]
    return value


def _convergence_time(outcome: Outcome) -> float:
    """Seconds, at most ``PATIENCE``."""
    seconds: float | None = outcome["net"]["metrics"]["convergence_time_jain_past_100_l4"]
    return PATIENCE if seconds is None else min(seconds, PATIENCE)


def _never_converged(outcome: Outcome) -> float:
    return float(_convergence_time(outcome) >= PATIENCE)


def _measures(of: Callable[[str, Outcome], float | None], *metrics: str) -> dict[str, Measure]:
    return {metric: partial(of, metric) for metric in metrics}


_QUEUE = ("total_qdisc_drops_l2", "total_qdisc_marks_ce_l2", "p50_qdisc_delay_l2")
#: What each experiment measures. Its name is that of its scenario file.
EXPERIMENTS: Mapping[str, Mapping[str, Measure]] = {
    TRACE: {
        **_measures(_of_flow, "mean_throughput_l4", "mean_cwnd_l4", "total_retransmissions_l4"),
        **_measures(_of_bottleneck, *_QUEUE),
    },
    BACKOFF: {
        **_measures(_of_flow, "mean_throughput_l4", "p50_rtt_l4"),
        **_measures(_of_bottleneck, "utilization_l1", *_QUEUE),
        **_measures(_of_bottleneck, "p95_qdisc_delay_l2", "p99_qdisc_delay_l2"),
    },
    CONVERGENCE: {"convergence_time": _convergence_time, "never_converged": _never_converged},
    SHORT_FLOWS: _measures(_of_flow, "flow_completion_time_l4"),
}
#: What --quick keeps of the grids; everything once.
_QUICK: Mapping[str, Mapping[str, list[Any]]] = {
    TRACE: {},
    BACKOFF: {
        "flows.0.rtt": ["20 ms", "80 ms", "160 ms", "320 ms"],
        "flows.0.cca": [
            *({"kind": "reno", "beta_ecn": beta} for beta in (0.5, 0.6, 0.8, 0.9)),
            *(
                {"kind": "cubic", "version": "linux-4.9", "beta_ecn": beta}
                for beta in (0.7, 0.85, 0.95)
            ),
        ],
    },
    CONVERGENCE: {
        "topology.bottleneck.rate": ["1 Mbit/s", "10 Mbit/s"],
        "flows.*.rtt": ["10 ms", "40 ms", "160 ms"],
        "flows.*.cca.beta_ecn": [0.5, 0.6, 0.8, 0.9],
    },
    SHORT_FLOWS: {"flows.0.traffic.size": ["200 kB", "500 kB", "1000 kB"]},
}


def cells(request: Request) -> Iterator[Cell]:
    """The cells of the requested experiments."""
    for experiment in EXPERIMENTS:
        if not request.tables or experiment in request.tables:
            yield from _of_experiment(experiment, request)


def _of_experiment(experiment: str, request: Request) -> Iterator[Cell]:
    replications: dict[tuple[str, ...], list[tuple[Case, ...]]] = {}
    for point in points(experiment, request):
        case = Case.of(point.canonical)
        replications.setdefault(_place(experiment, point.canonical), []).append((case,))
    for place, cases in replications.items():
        for metric, measure in EXPERIMENTS[experiment].items():
            yield Cell(dict(zip(KEYS, (*place, metric), strict=True)), None, cases, measure)


def points(experiment: str, request: Request) -> Iterator[Point]:
    """The runs of an experiment."""
    document = scenario(experiment)
    for override in request.overrides:
        apply_override(document, override)
    if request.quick:
        document["sweep"]["replications"] = 1
        document["sweep"]["grid"] |= _QUICK[experiment]
    for point in plan(validated(document)):
        if point.error:
            raise ScenarioError(point.error)
        yield point


def scenario(experiment: str) -> Document:
    """The experiment's file."""
    return read(data.path(f"experiments/abe/{experiment}.toml"))


def _place(experiment: str, canonical: Document) -> tuple[str, ...]:
    """A run's keys but for the metric, read off its scenario."""
    flow, bottleneck = canonical["flows"][0], canonical["topology"]["bottleneck"]
    marks = flow["ecn"] != "off"
    size = flow["traffic"].get("size")
    return (
        experiment,
        bottleneck["queue"]["kind"],
        flow["cca"]["kind"],
        f"{flow['cca']['beta_ecn']:g}" if marks else "no ECN",
        f"{number(bottleneck['rate']) * 1e-6:g}",
        f"{number(flow['rtt']) * 1e3:g}",
        f"{number(size) * 1e-3:g}" if size else "",
    )
