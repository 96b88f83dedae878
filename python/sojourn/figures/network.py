"""The network: what its links carry and what waits at its nodes, over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.figures.chart import NETWORKS, Chart, Graph, Heat, Panel, figure
from sojourn.figures.places import joined, placed
from sojourn.figures.thin import binned, last_of_binned
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.columns import Table, Values, rate_of
from sojourn.metrics.responsiveness import rate_changes

#: Stretches of time that can be told apart, and rows of a heat map.
_STRETCHES, _MOST_ROWS = 30, 40


@figure("network", NETWORKS)
def network(result: Measured) -> Chart:
    """Nodes and links, coloured by load."""
    return picture(result.data, "The network")


def picture(run: RunData, title: str) -> Chart:
    """The same of what was simulated."""
    told = (
        "Links by the share of their rate that is used, or of the air that they share; nodes "
        "larger the more packets wait there. Means on paper, any time on the page."
    )
    return Chart(title, told, [Panel("", "", [], from_zero=False, graph=graph(run))])


@figure("network_over_time", NETWORKS)
def over_time(result: Measured) -> Chart:
    """Load of links and queues of nodes over time."""
    return history(result.data, "The network over time")


def history(run: RunData, title: str) -> Chart:
    """The same of what was simulated."""
    shown = graph(run)
    loads, waiting = np.asarray(shown.loads), np.asarray(shown.waiting)
    columns = [f"{time:g}" for time in np.asarray(shown.times)]
    panels = [
        _heat("Load of links", columns, shown.arc_names, loads, "Share used"),
        _heat("Queues of nodes", columns, shown.names, waiting, "Packets"),
    ]
    more = (
        f" The {_MOST_ROWS} with the most."
        if max(loads.shape[1], len(shown.names)) > _MOST_ROWS
        else ""
    )
    return Chart(title, f"Means of stretches of time.{more}", panels)


def graph(run: RunData) -> Graph:
    """The network of a run that is worth drawing (:func:`joined`)."""
    links = run.network["links"]
    inner = joined(links)
    ends = [tuple(map(str, links[i]["ends"])) for i in inner]
    names = list(dict.fromkeys(node for pair in ends for node in pair))
    at = placed(tuple((a, b) for a, b in ends))
    table = run.tables["link_samples"]
    times = _matrix(table, "time", len(links))[:, 0]
    spans = np.diff(times, prepend=0.0)[:, None]
    rates = _rates(run, np.concatenate([[0.0], times[:-1]]))
    sent, air = (_matrix(table, name, len(links)) for name in ("sent_bytes", "airtime"))
    with np.errstate(invalid="ignore"):
        used = np.where(np.isfinite(rates), 8 * sent / rates, air) / spans
    return Graph(
        names,
        np.array([at[name] for name in names]),
        [(names.index(a), names.index(b)) for a, b in ends],
        [links[i]["id"] for i in inner],
        times[last_of_binned(len(times), _STRETCHES)],
        binned(used[:, inner], _STRETCHES),
        binned(_waiting(run, names, inner), _STRETCHES),
    )


def _rates(run: RunData, begins: Values) -> Values:
    """``[interval, link]``: the rate in bit/s at the beginning of each interval."""
    links, topology = run.network["links"], run.scenario["topology"]
    rates = np.tile([rate_of(link) for link in links], (len(begins), 1))
    declared = topology["links"] if topology["kind"] == "graph" else ()
    changing = {link["id"]: link for link in declared if link.get("rate_schedule")}
    for place, link in enumerate(links):
        if found := changing.get(link["id"].removesuffix("_reverse")):
            schedule = {**found["rate_schedule"], "rate": found["rate"]}
            for at, rate in rate_changes(schedule, begins[-1] + 1):
                rates[begins >= at - 1e-9, place] = rate
    return rates


def _waiting(run: RunData, names: Sequence[str], inner: Sequence[int]) -> Values:
    """``[interval, node]``: packets in a node's own queues and before the links that leave it."""
    tables, links = run.tables, run.network["links"]
    queues = _matrix(tables["link_samples"], "queue_packets", len(links))
    waiting = np.zeros((len(queues), len(names)))
    for link in inner:
        waiting[:, names.index(links[link]["ends"][0])] += np.nan_to_num(queues[:, link])
    own = run.network.get("nodes")
    if own:
        held = _matrix(tables["node_samples"], "queue_packets", len(own))
        for place, name in enumerate(own):
            waiting[:, names.index(name)] += held[:, place]
    return waiting


def _matrix(table: Table, column: str, count: int) -> Values:
    """A column of samples as ``[interval, component]``."""
    return np.asarray(table[column], dtype=float).reshape(-1, count)


def _heat(
    title: str, columns: Sequence[str], rows: Sequence[str], values: Values, label: str
) -> Panel:
    """Those with the most, in the order in which they are named from the top."""
    most = np.sort(np.argsort(-np.nan_to_num(values).sum(axis=0), kind="stable")[:_MOST_ROWS])[::-1]
    heat = Heat(columns, [rows[i] for i in most], values[:, most].T, label)
    return Panel("Time (s)", "", [], from_zero=False, heat=heat, title=title)
