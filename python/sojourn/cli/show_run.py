"""What ``sojourn run`` prints of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli import tables

if TYPE_CHECKING:
    from sojourn.result import Result

#: With more flows than this, the table has one row per flow and only the main metrics.
_MOST_COLUMNS = 4
_MAIN = (
    "mean_throughput_l4",
    "mean_srtt_l4",
    "mean_cwnd_l4",
    "total_retransmissions_l4",
    "total_rtos_l4",
)


def _json(result: Result) -> None:
    click.echo(json.dumps(result.to_json()))


def _rows(result: Result) -> list[dict[str, Any]]:
    """Every value with what it is of, for CSV."""
    document = result.to_json()
    rows = []
    for scope, entries in (
        ("flow", document["flows"]),
        ("link", document["links"]),
        ("net", [{"id": "", **document["net"]}]),
        ("group", document["groups"]),
    ):
        for entry in entries:
            for name, value in entry["metrics"].items():
                key = {"scope": scope, "id": entry["id"], "cca": entry.get("cca", "")}
                rows.append({**key, "metric": name, "value": value})
    return rows


def _csv(result: Result) -> None:
    tables.write_csv(("scope", "id", "cca", "metric", "value"), _rows(result))


def _table(result: Result) -> None:
    document = result.to_json()
    flows = document["flows"]
    if len(flows) <= _MOST_COLUMNS:
        names = [f"{flow['id']} {flow['label'] or flow['cca']}" for flow in flows]
        _by_metric("Flows", names, flows)
    else:
        shown = [name for name in _MAIN if name in flows[0]["metrics"]]
        rows = [
            (f"{flow['id']} {flow['label'] or flow['cca']}", *map(flow["metrics"].get, shown))
            for flow in flows
        ]
        tables.show("Flows (all metrics: --format csv)", ("flow", *shown), rows)
    for start in range(0, len(document["links"]), _MOST_COLUMNS):
        links = document["links"][start : start + _MOST_COLUMNS]
        _by_metric("Links", [link["id"] for link in links], links)
    _by_metric("Network", ["value"], [document["net"]])
    groups = document["groups"][:_MOST_COLUMNS]
    _by_metric("Groups of flows", [group["id"] for group in groups], groups)


def _by_metric(title: str, names: list[str], members: list[dict[str, Any]]) -> None:
    if not members or not members[0]["metrics"]:
        return
    from sojourn.metrics import metrics

    units = {m.name: m.unit for m in metrics()}
    rows = [
        (name, units[name], *(member["metrics"][name] for member in members))
        for name in members[0]["metrics"]
    ]
    tables.show(title, ("metric", "unit", *names), rows, words=2)


PRINTERS: dict[str, Callable[[Result], None]] = {"table": _table, "json": _json, "csv": _csv}
