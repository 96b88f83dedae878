"""CCPerf's Cubic-friendliness experiment 82.

Parameters: ``cca``, the control under test, and ``k``, the number of flows: half of them, rounded
down, use the control under test, the others Cubic. The published values are of ``cca = "reno"``
and ``k = 2``; with other parameters or overrides nothing published is at hand.
"""

from __future__ import annotations

import copy
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sojourn import data
from sojourn.campaign.cases import Case, Outcome
from sojourn.errors import ScenarioError
from sojourn.json_types import Json
from sojourn.reproduction.card import read as read_card
from sojourn.reproduction.paper import Cell, Paper, Request
from sojourn.scenario import Document, apply_override, parse_value, read, validated
from sojourn.sweeps.expand import plan
from sojourn_reproductions.ccperf.goals import STATEMENTS
from sojourn_reproductions.ccperf.split import OF_SEEDS, SPLIT, of_seeds

_QUICK_SEEDS = 5
_PUBLISHED_FLOWS = 2
#: Second readings of what the page prints; see reference/ccperf/SOURCE.md.
_READINGS = {
    "mean_utilization_bdp_l4": "mean_utilization_bdp_goodput_l4",
    "mean_agg_utilization_bdp_l4": "mean_agg_utilization_bdp_goodput_l4",
    "mean_jains_fairness_throughput_l4": "jains_fairness_of_means_throughput_l4",
    "mean_product_fairness_throughput_l4": "product_fairness_of_means_throughput_l4",
    "mean_entropy_fairness_throughput_l4": "entropy_fairness_of_means_throughput_l4",
}
#: The page's name for the time that its greedy flows, which never complete, were active.
_MEASURED = {"flow_completion_time_l4": "active_time_l4"}


@dataclass(frozen=True)
class _Setup:
    #: The control under test; ``None`` for the page's, as the experiment's file has it.
    cca: Json = None
    flows: int = _PUBLISHED_FLOWS
    overrides: tuple[str, ...] = ()

    @property
    def published(self) -> bool:
        """Whether this is the set-up of the page."""
        return self == _Setup()


def _cells(request: Request) -> Iterator[Cell]:
    """One cell per printed value, and one per second reading of it."""
    setup = _setup(request.overrides)
    replications = [(case,) for case in _cases(setup, request.quick)]
    lines = list(_printed())
    for scope, columns in (("flow", setup.flows), ("link", 1), ("net", 1)):
        for index in range(columns):
            for metric, printed in ((m, p) for s, m, p in lines if s == scope):
                published = printed[index] if setup.published else None
                for name in filter(None, (metric, _READINGS.get(metric))):
                    yield _cell(scope, name, index, published, replications)
            if scope == "flow":
                yield from _split(index, replications)


CCPERF = Paper(
    name="ccperf",
    title="CCPerf, experiment 82: Cubic-friendliness of NewReno at 32 Mbit/s and 15 ms",
    keys=("scope", "metric", "row", "column"),
    labels=("metric",),
    tables=("82",),
    card=read_card(Path(__file__).with_name("card.toml")),
    cells=_cells,
    statements=STATEMENTS,
)


def _cell(
    scope: str,
    metric: str,
    index: int,
    published: float | None,
    replications: Sequence[tuple[Case, ...]],
) -> Cell:
    measure = partial(_MEASURES[scope], _MEASURED.get(metric, metric), index)
    return Cell(_keys(scope, metric, index), published, replications, measure)


def _split(index: int, replications: Sequence[tuple[Case, ...]]) -> Iterator[Cell]:
    """The quantiles over the seeds of a flow's throughput."""
    seeds = tuple(case for (case,) in replications)
    for name, share in OF_SEEDS.items():
        measure = partial(of_seeds, partial(_of_flow, SPLIT, index), share)
        yield Cell(_keys("flow", name, index), None, [seeds], measure)


def _keys(scope: str, metric: str, index: int) -> dict[str, str]:
    return {"scope": scope, "metric": metric, "row": metric, "column": f"flow_{index + 1}"}


def _of_flow(metric: str, index: int, outcome: Outcome) -> float | None:
    return outcome["flows"][index]["metrics"][metric]


def _of_bottleneck(metric: str, _: int, outcome: Outcome) -> float | None:
    link = next(link for link in outcome["links"] if link["id"] == "bottleneck")
    return link["metrics"][metric]


def _of_net(metric: str, _: int, outcome: Outcome) -> float | None:
    return outcome["net"]["metrics"][metric]


_MEASURES: dict[str, Callable[[str, int, Outcome], float | None]] = {
    "flow": _of_flow,
    "link": _of_bottleneck,
    "net": _of_net,
}


def _printed() -> Iterator[tuple[str, str, list[float | None]]]:
    """Scope, metric and the values of each line of the page."""
    path = data.path("reference/ccperf/experiment_82.csv")
    with path.open(encoding="utf-8") as file:
        for line in csv.DictReader(row for row in file if not row.startswith("#")):
            values = [float(line[c]) if line[c] else None for c in ("flow_1", "flow_2")]
            yield line["scope"], line["metric"], values


def _setup(overrides: Sequence[str]) -> _Setup:
    """Takes the paper's own parameters out of the overrides."""
    given: dict[str, Json] = {}
    rest = []
    for override in overrides:
        name, equals, text = (part.strip() for part in override.partition("="))
        if equals and name in ("cca", "k"):
            given[name] = parse_value(name, text)
        else:
            rest.append(override)
    flows = given.get("k", _PUBLISHED_FLOWS)
    if not isinstance(flows, int) or isinstance(flows, bool) or not 1 <= flows <= 10_000:
        raise ScenarioError(f"k: {flows!r} given; expected a number of flows from 1 to 10000")
    return _Setup(_tested(given.get("cca")), flows, tuple(rest))


def _tested(cca: Json) -> Json:
    """The page's own control is ns-3's NewReno, and so is plain ``reno``."""
    return None if cca == "reno" else cca


def _cases(setup: _Setup, quick: bool) -> Iterator[Case]:
    for point in plan(validated(_document(setup, quick))):
        if point.error:
            raise ScenarioError(point.error)
        yield Case.of(point.canonical)


def _document(setup: _Setup, quick: bool) -> Document:
    """The experiment's scenario with the control under test and the number of flows."""
    document = read(data.path("experiments/ccperf/cubic-friendliness.toml"))
    tested, cubic = document["flows"]
    under_test = setup.flows // 2
    if setup.cca is not None:
        tested = {**tested, "cca": setup.cca}
        del tested["label"]
    flows = [(tested, under_test), (cubic, setup.flows - under_test)]
    document["flows"] = [copy.deepcopy({**flow, "count": n}) for flow, n in flows if n]
    for override in setup.overrides:
        apply_override(document, override)
    if quick:
        document["sweep"]["replications"] = _QUICK_SEEDS
    return document
