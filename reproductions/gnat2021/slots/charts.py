"""Rates, loads of links, delays and queues over time, as the report plots them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sojourn.campaign.cases import Computed, Results
from sojourn.figures.chart import Chart, Graph, Line, Panel, color_of, dash_of
from sojourn.figures.places import placed
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.slots.cells import TABLE, simulated
from sojourn_reproductions.gnat2021.slots.models import CHANGING, RUNS, Run, rate_at

_TITLES = {
    "2.1": "Load balancing of multicast (2.1)",
    "2.2": "Latency reduction at a changing bottleneck (2.2)",
    "2.4": "Signalling strategies (2.4)",
}


def drawn(keys: Sequence[Mapping[str, Any]]) -> Iterator[Computed]:
    """The runs of the figures."""
    for section in _sections(keys):
        yield from map(simulated, _shown(section))


def _sections(keys: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({key["section"] for key in keys if key["table"] == TABLE})


def _shown(section: str) -> list[Run]:
    runs = [run for run in RUNS if run.section == section]
    return [run for run in runs if section != "2.2" or run.name.startswith("short ")]


def charts(rows: Sequence[Row], results: Results) -> Mapping[str, Chart]:
    """Figures of the sections that were run."""
    made = {}
    for section in _sections(rows):
        runs = [(run, results[simulated(run)]) for run in _shown(section)]
        panels = [_rates(*each) for each in runs]
        caption = "Packets delivered, means of a second."
        made[f"slots-{section}"] = Chart(_TITLES[section], caption, panels, stacked=True)
        if section == "2.1":
            for name in CHANGING:
                made |= _of_network(name, [each for each in runs if each[0].name.startswith(name)])
        if section == "2.2":
            delays = [_delays(*each) for each in runs]
            caption = "Means of 100 ms."
            title = "Delays at a changing bottleneck (2.2)"
            made["slots-2.2-delays"] = Chart(title, caption, delays, stacked=True)
    return made


#: What a model's run comes to.
_Outcome = Mapping[str, Any]


def _of_network(name: str, runs: Sequence[tuple[Run, _Outcome]]) -> Mapping[str, Chart]:
    """What links carry over time, coded and routed, and where they are."""
    loads = [_loads(*each) for each in runs]
    caption = "Packets over each link, means of a second."
    over_time = Chart(f"Loads of links, {name} (2.1)", caption, loads, stacked=True)
    graph = Panel("", "", [], from_zero=False, graph=_graph(*runs[0]))
    caption = (
        "Links by the share of their rate that is used; nodes larger the more packets wait there. "
        "Means on paper, any time on the page."
    )
    network = Chart(f"The network, {runs[0][0].name} (2.1)", caption, [graph])
    place = name.replace(" ", "-")
    return {f"slots-2.1-loads-{place}": over_time, f"slots-2.1-network-{place}": network}


def _graph(run: Run, found: _Outcome) -> Graph:
    """Both directions of each link, means of a second."""
    links = run.model["links"]
    names = [str(node) for node in range(run.model["nodes"])]
    at = placed(tuple((str(link["from"]), str(link["to"])) for link in links))
    arcs = [(load["from"], load["to"]) for load in found["loads"]]
    times = np.asarray(found["times"])[9::10]
    # The outcome has both directions of each link after another.
    rates = [[rate_at(links[arc // 2], time - 1) for arc in range(len(arcs))] for time in times]
    carried = np.array([_smooth(load["rates"]) for load in found["loads"]]).T
    queued = np.asarray(found["queued"]).sum(axis=1)
    return Graph(
        names,
        np.array([at[name] for name in names]),
        arcs,
        [f"{tail} to {head}" for tail, head in arcs],
        times,
        carried / np.array(rates),
        np.array([_smooth(packets) for packets in queued]).T,
    )


def _smooth(values: Sequence[float]) -> np.ndarray:
    """Means of ten samples, a second."""
    whole = np.asarray(values)[: len(values) // 10 * 10]
    return np.asarray(whole.reshape(-1, 10).mean(axis=1))


def _panel(
    run: Run,
    found: _Outcome,
    what: str,
    series: Mapping[str, Sequence[float]],
    least: float = -1.0,
) -> Panel:
    """Lines of the same look alike in all panels; those that stay below ``least`` are left out."""
    seconds = np.asarray(found["times"])[9::10]
    lines = [
        Line(label, seconds, _smooth(values), color_of(index), dash=dash_of(index))
        for index, (label, values) in enumerate(series.items())
        if max(values) > least
    ]
    return Panel("Time (s)", what, lines, title=run.name)


def _rates(run: Run, found: _Outcome) -> Panel:
    received = found["received"]
    series = {f"{row['stream']} to {row['node']}": row["rates"] for row in received}
    return _panel(run, found, "Rate (Mbit/s)", series)


def _loads(run: Run, found: _Outcome) -> Panel:
    loads = found["loads"]
    series = {f"{row['from']} to {row['to']}": row["rates"] for row in loads}
    return _panel(run, found, "Load (Mbit/s)", series, least=0.1)


def _delays(run: Run, found: _Outcome) -> Panel:
    lines = []
    for index, row in enumerate(found["received"]):
        delays = np.asarray(row["delays"], dtype=float)
        label = f"{row['stream']} to {row['node']}"
        lines.append(Line(label, np.asarray(found["times"]), delays, color_of(index)))
    return Panel("Time (s)", "Delay (ms)", lines, title=run.name)
