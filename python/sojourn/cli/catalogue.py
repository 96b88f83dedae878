"""``sojourn list``."""

from __future__ import annotations

import json
from collections.abc import Iterable

import click

from sojourn.cli import tables

KINDS = ("ccas", "queues", "traffic", "topologies", "metrics", "experiments", "papers")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@click.option("--format", "output", type=click.Choice(["table", "json", "csv"]), default="table")
def command(kind: str | None, output: str) -> None:
    """List what there is: the catalogue."""
    chosen = (kind,) if kind else KINDS
    catalogue = {name: entries(name) for name in chosen}
    if output == "json":
        click.echo(json.dumps(catalogue))
    elif output == "csv":
        rows = [{"kind": name, **entry} for name, listed in catalogue.items() for entry in listed]
        tables.write_csv(("kind", "name", "summary"), rows)
    else:
        for name, listed in catalogue.items():
            rows_ = [(entry["name"], _detail(entry)) for entry in listed]
            tables.show(name.capitalize(), ("name", "summary"), rows_, words=2)


def _detail(entry: dict[str, str]) -> str:
    unit = f"{entry['scope']}, {entry['unit']}: " if "unit" in entry else ""
    return unit + entry["summary"]


def entries(kind: str) -> list[dict[str, str]]:
    """The members of one kind: name, summary and, for metrics, what they declare."""
    if kind == "metrics":
        return list(_metrics())
    if kind == "experiments":
        from sojourn.experiments import experiments

        return experiments()
    if kind == "papers":
        from sojourn.papers import PAPERS

        return [{"name": p.name, "summary": p.title} for p in PAPERS.values()]
    from sojourn import _internal

    members = json.loads(_internal.catalogue())[kind]
    return [{"name": m["name"], "summary": m["summary"]} for m in members]


def _metrics() -> Iterable[dict[str, str]]:
    from sojourn.metrics import metrics

    for m in metrics():
        yield {
            "name": m.name,
            "summary": m.summary,
            "scope": m.scope,
            "quantity": m.quantity,
            "unit": m.unit,
            "layer": m.layer,
            "aggregator": m.aggregator,
            "sampling": m.sampling,
            "empty": m.empty,
        }
