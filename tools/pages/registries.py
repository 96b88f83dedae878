"""Pages that list what is registered: metrics and experiments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from sojourn.described import cell
from sojourn.experiments import experiments
from sojourn.metrics import metrics
from sojourn.metrics.registry import LAYERS, Metric

_NOTE = "<!-- Written by `make docs`. -->\n\n"
_METRICS = """\
# All metrics

Every metric that Sojourn computes, by what it is of: a flow, a link, the network, a group of flows
or the transfers of one label. [Metrics](metrics.md) tells which samples count and what is
undefined. The last part of a name is the layer: {layers}.
"""
_EXPERIMENTS = """\
# Experiments

The scenarios that come with Sojourn: `sojourn run FILE` runs one, `sojourn sweep FILE` one with a
grid. Each is a short text file to begin your own from.
"""
_SCOPES = {
    "flow": "Of a flow",
    "link": "Of a link",
    "net": "Of the network",
    "group": "Of a group of flows",
    "transfer": "Of the transfers of a label",
}


def metric_list() -> str:
    """The page of all metrics."""
    layers = ", ".join(f"`{short}` {layer}" for short, layer in LAYERS.items())
    # Not those that somebody else has registered.
    ours = (m for m in metrics() if m.compute.__module__.startswith("sojourn."))
    listed = sorted(ours, key=lambda m: list(_SCOPES).index(m.scope))
    parts = [_NOTE + _METRICS.format(layers=layers)]
    for scope, of_one in groupby(listed, key=lambda m: m.scope):
        parts.append("\n".join([f"## {_SCOPES[scope]}\n", *_table(of_one), ""]))
    return "\n".join(parts)


def _table(listed: Iterator[Metric]) -> Iterator[str]:
    yield from ("| name | what it is | unit | better |", "| --- | --- | --- | --- |")
    for m in listed:
        yield f"| `{m.name}` | {cell(m.summary)} | {m.unit} | {m.better or ''} |"


def experiment_list() -> str:
    """The page of all experiments, by their directory."""
    parts = [_NOTE + _EXPERIMENTS]
    listed = ((entry["name"].rpartition("/"), entry["summary"]) for entry in experiments())
    for folder, of_one in groupby(listed, key=lambda entry: entry[0][0]):
        rows = [f"| `{name}` | {cell(summary)} |" for (_, _, name), summary in of_one]
        head = [f"## {folder}\n", "| file | what it asks |", "| --- | --- |"]
        parts.append("\n".join([*head, *rows, ""]))
    return "\n".join(parts)
