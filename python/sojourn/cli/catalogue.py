"""``sojourn list``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import click

from sojourn.cli import tables

CORE_KINDS = ("ccas", "queues", "traffic", "topologies")
KINDS = (*CORE_KINDS, "metrics", "experiments", "papers")
_HEADS = ("name", "summary")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv", "markdown"]),
    default="table",
    show_default=True,
    help="What is printed; markdown is the documentation.",
)
def command(kind: str | None, output: str) -> None:
    """List what there is: the catalogue."""
    chosen = (kind,) if kind else KINDS
    if output == "markdown":
        click.echo("\n\n".join(page(name) for name in chosen))
        return
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


def page(kind: str) -> str:
    """The documentation page of one kind."""
    parts = [f"# {kind.capitalize()}"]
    if kind in CORE_KINDS:
        parts += [_member(member) for member in _catalogue()[kind]]
    else:
        parts += [f"## {entry['name']}\n\n{_properties(entry)}" for entry in entries(kind)]
    return "\n\n".join(parts)


def _member(member: Any) -> str:
    """A member's header, and what it can be told."""
    text = f"## {member['name']}\n\n{member['documentation']}"
    if not member["parameters"]:
        return text
    rows = [
        f"| `{p['name']}` | {p['type'].replace('|', ',')} | {json.dumps(p.get('default'))} | "
        f"{' '.join(p['description'].split())} |"
        for p in member["parameters"]
    ]
    header = "| parameter | type | default | meaning |\n| --- | --- | --- | --- |"
    return "\n".join([f"{text}\n\n{header}", *rows])


def _properties(entry: dict[str, str]) -> str:
    listed = [f"- {name}: {value}" for name, value in entry.items() if name not in _HEADS]
    return "\n".join([entry["summary"], *(["", *listed] if listed else [])])


def _catalogue() -> Any:
    from sojourn import _internal

    return json.loads(_internal.catalogue())


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
    members = _catalogue()[kind]
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
