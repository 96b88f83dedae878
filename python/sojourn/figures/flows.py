"""Names of flows in figures, and the groups that stand for many of them."""

from __future__ import annotations

from collections import Counter

from sojourn.groups import Group, extremes, groups
from sojourn.measured import Measured
from sojourn.metrics.columns import mean
from sojourn.names import flow_name
from sojourn.outcome import flow_identities

#: Of more flows than this, groups are shown.
MOST_FLOWS = 12
_MOST_GROUPS = 6
#: What a caption says of groups.
BANDS = "Lines: median over the flows of a group; bands: their 5th to 95th percentile."


def labels(result: Measured) -> list[str]:
    """A name for each flow: its label with its control if no other has it, or with its id."""
    flows = flow_identities(result.scenario.canonical)
    uses = Counter(flow["label"] for flow in flows)
    return [
        flow_name(label, flow["cca"])
        if (label := flow["label"]) and uses[label] == 1
        else f"{label or flow['cca']} ({flow['id']})"
        for flow in flows
    ]


def grouped(result: Measured) -> list[Group]:
    """The groups to show; none where the flows are few enough to show each."""
    return groups(result, _MOST_GROUPS) if result.data.flow.count > MOST_FLOWS else []


def group_label(group: Group) -> str:
    """A group's name and size."""
    return f"{group.name} ({len(group.flows):,} flows)"


def best_and_worst(result: Measured) -> list[tuple[str, int]]:
    """The flows with the highest and the lowest mean throughput, and what a legend calls them."""
    best, worst = extremes(mean(result.data.flow.throughput), 1)
    names = labels(result)
    return [(f"most: {names[i]}", i) for i in best] + [(f"least: {names[i]}", i) for i in worst]
