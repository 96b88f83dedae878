"""A run at a glance: what was run, in words, and the numbers that a person looks for first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from sojourn.groups import Group, extremes, groups, quantiles
from sojourn.json_types import Fields
from sojourn.measured import Measured
from sojourn.metrics import Scope, metrics
from sojourn.metrics.columns import Values
from sojourn.metrics.warnings import RunWarning, brief, warnings_of
from sojourn.names import control_name, flow_name
from sojourn.numbers import number
from sojourn.origin import CAPTURE, ran_on
from sojourn.outcome import flow_identities
from sojourn.quantity import number as amount
from sojourn.table import Table

#: More flows than this are shown as groups, and these are not more either.
MOST_FLOWS, MOST_GROUPS = 5, 6
#: So many flows with the highest and with the lowest throughput are named.
_EXTREMES = 3
_MOST_KINDS = 4
#: What is told of each flow and its head.
_OF_FLOWS = {
    "mean_throughput_l4": "throughput",
    "mean_srtt_l4": "sRTT",
    "mean_cwnd_l4": "cwnd",
    "total_retransmissions_l4": "resent",
    "total_rtos_l4": "timeouts",
}
#: What is told of a group: the median, or the sum if it counts.
_OF_GROUPS = {name: head for name, head in _OF_FLOWS.items() if name != "mean_cwnd_l4"}
#: What is told of a link.
_OF_LINKS = (
    "utilization_l1",
    "airtime_l1",
    "mean_qdisc_delay_l2",
    "p95_qdisc_delay_l2",
    "total_qdisc_drops_l2",
    "total_qdisc_marks_l2",
)
_MOST_LINKS = 3


def sentence(result: Measured) -> str:
    """What was run, in words."""
    canonical, count = result.scenario.canonical, result.data.flow.count
    if result.origin.get("backend") == CAPTURE:
        return f"{_who(result)} in {canonical['duration']}, observed {ran_on(result.origin)}."
    arrivals = canonical.get("arrivals") or []
    verb = "crosses" if count == 1 and not arrivals else "share" if count or arrivals else "cross"
    seed = f"seed {canonical['seed']}"
    simulated = f"({canonical['stack']} endpoints, {seed})"
    made = f"{ran_on(result.origin)}, {seed}" if result.origin else simulated
    return (
        f"{_who(result)} {verb} {_network(canonical['topology'])} for {canonical['duration']} "
        f"{made}."
    )


def flow_table(result: Measured) -> Table:
    """The main metrics of each flow, or of groups of many."""
    if result.data.flow.count > MOST_FLOWS:
        return _group_table(result)
    rows = _rows(result)
    return Table("", ["flow", *_heads(_OF_FLOWS)], rows)


def extremes_told(result: Measured) -> list[str]:
    """Of many flows those with the most and the least throughput, by name."""
    if result.data.flow.count <= MOST_FLOWS:
        return []
    throughput, names = _values(result, "flow", "mean_throughput_l4"), flow_names(result)
    return [
        f"{word} throughput (Mbit/s), "
        + ", ".join(f"{names[i]}: {number(float(throughput[i]))}" for i in ids)
        for word, ids in zip(("most", "least"), extremes(throughput, _EXTREMES), strict=True)
        if ids
    ]


def links_told(result: Measured) -> list[str]:
    """A line for each link, the busiest of many."""
    names = [link["id"] for link in result.data.network["links"]]
    used, air, delay, tail, drops, marks = (_values(result, "link", name) for name in _OF_LINKS)
    busy = np.where(np.isnan(used), air, used)
    of = np.where(np.isnan(air), "utilized", "of the air")
    order = np.argsort(-np.nan_to_num(busy), kind="stable")
    order = order[np.isfinite(drops[order])]  # of what was observed elsewhere nothing is known
    told = [
        f"{names[i]}: {_short(100 * busy[i])} % {of[i]}, queueing delay {_short(delay[i])} ms "
        f"(p95 {_short(tail[i])}), {drops[i]:.0f} drops, {marks[i]:.0f} marks"
        for i in sorted(order[:_MOST_LINKS].tolist())
    ]
    more = len(order) - len(told)
    return [*told, f"and {more} less busy links"] if more else told


def together(result: Measured) -> str:
    """What all flows come to; nothing without any."""
    if not result.data.flow.count:
        return ""
    throughput, jain = (
        float(_values(result, "net", name)[0])
        for name in ("mean_agg_throughput_l4", "jains_fairness_of_means_throughput_l4")
    )
    fairness = f", Jain's index {number(jain)}" if result.data.flow.count > 1 else ""
    return f"all flows: {number(throughput)} Mbit/s{fairness}"


def warnings_told(result: Measured, most: int = 3) -> list[str]:
    """What to beware of, the gravest first, members alike told together."""
    told = [_told(warning) for warning in brief(warnings_of(result))]
    more = f"and {len(told) - most} more warnings: see the report"
    return told if len(told) <= most else [*told[:most], more]


def flow_names(result: Measured) -> list[str]:
    """Id, label and control of each flow."""
    flows = flow_identities(result.scenario.canonical)
    return [f"{flow['id']} {flow_name(flow['label'], flow['cca'])}" for flow in flows]


def spread(values: Values) -> str:
    """Median, and 5th to 95th percentile, of those that are known."""
    low, middle, high = (_short(v) for v in quantiles(values, (0.05, 0.5, 0.95)).tolist())
    return middle if low == high else f"{middle} ({low}-{high})"


def _short(value: float) -> str:
    """Three digits are enough of a quantile."""
    return number(value) if not isfinite(value) or abs(value) < 1e-3 else f"{value:.3g}"


def _told(warning: RunWarning) -> str:
    several = "s" * ("," in warning.id or " and " in warning.id)
    whose = f"{warning.scope}{several} {warning.id}: " if warning.id else ""
    return f"{warning.severity}: {whose}{warning.text}"


def _group_table(result: Measured) -> Table:
    rows = [_group_row(result, group) for group in groups(result, MOST_GROUPS)]
    title = "Median (5th to 95th percentile) over the flows of a group; counts are sums"
    return Table(title, ["group", "flows", *_heads(_OF_GROUPS)], rows)


def _group_row(result: Measured, group: Group) -> list[str | int]:
    row: list[str | int] = [group.name, len(group.flows)]
    for name in _OF_GROUPS:
        values = _values(result, "flow", name)[group.flows]
        counts = _unit(name) == "count"
        row.append(int(np.nansum(values)) if counts else spread(values))
    return row


def _rows(result: Measured) -> list[list[object]]:
    columns = [_cells(result, name) for name in _OF_FLOWS]
    return [list(row) for row in zip(flow_names(result), *columns, strict=True)]


def _cells(result: Measured, name: str) -> Sequence[float | None]:
    values: list[float] = _values(result, "flow", name).tolist()
    if _unit(name) == "count":
        return [int(value) if isfinite(value) else None for value in values]
    return values


def _heads(chosen: Mapping[str, str]) -> list[str]:
    heads = ((word, _unit(name)) for name, word in chosen.items())
    return [word if unit in ("1", "count") else f"{word} ({unit})" for word, unit in heads]


def _unit(name: str) -> str:
    return next(m.unit for m in metrics("flow") if m.name == name)


def _values(result: Measured, scope: Scope, name: str) -> Values:
    return result.values(scope, name)


def _who(result: Measured) -> str:
    """The flows, and the transfers that come and go."""
    labels = [str(entry["label"]) for entry in result.scenario.canonical.get("arrivals") or []]
    transfers = f"transfers ({', '.join(labels)})"
    if not labels:
        return _flows(result)
    return f"{_flows(result)} and {transfers}" if result.data.flow.count else transfers.capitalize()


def _flows(result: Measured) -> str:
    """How many flows of which control, and their base RTTs."""
    canonical = result.scenario.canonical
    kinds: Counter[str] = Counter()
    for flow in canonical["flows"]:
        control = control_name(flow)
        kinds[flow_name(flow.get("label"), control)] += flow.get("count", 1)
    count = kinds.total()
    if not count:
        return "No flows"
    if len(kinds) > _MOST_KINDS:
        told = f"{count:,} flows of {len(kinds)} kinds"
    else:
        each = [f"{size:,} {name}" for name, size in kinds.items()]
        told = f"{_listed(each)} flow{'s' * ([*kinds.values()][-1] > 1)}"
    rtts = 1e3 * result.data.flow.base_rtt
    rtts = rtts[np.isfinite(rtts)]  # of what was captured far from its sender it is not known
    if not rtts.size:
        return told
    low, high = f"{rtts.min():.6g}", f"{rtts.max():.6g}"
    return f"{told} (base RTT {low if low == high else f'{low} to {high}'} ms)"


def _network(topology: Fields) -> str:
    """Over what the flows run."""
    if topology["kind"] == "dumbbell":
        return f"a bottleneck of {_link(topology['bottleneck'])}"
    if topology["kind"] == "parking_lot":
        return f"{len(topology['hops'])} hops, the first of {_link(topology['hops'][0])}"
    if topology["kind"] == "graph":
        return f"a graph of {len(topology['nodes'])} nodes and {len(topology['links'])} links"
    return f"a network of kind {topology['kind']}"


def _link(link: Fields) -> str:
    medium = link.get("medium")
    shared = (
        f"the medium {medium['kind'] if isinstance(medium, dict) else medium}" if medium else ""
    )
    parts = [link.get("rate") or shared or "no rate"]
    if queue := link.get("queue"):
        limit = f" of {queue['limit']}" if queue.get("limit") else ""
        parts.append(f"a {queue['kind']} queue{limit}")
    loss = link.get("loss")
    if isinstance(loss, str) and amount(loss) > 0:
        parts.append(f"{loss} random loss")
    return _listed(parts)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
