"""``sojourn list``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from sojourn.cli import tables
from sojourn.cli.names import Name
from sojourn.cli.output import give, warn
from sojourn.errors import ScenarioError
from sojourn.json_types import Fields
from sojourn.literal import printable
from sojourn.names import either

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sojourn.catalogue import Kind

CORE_KINDS = ("ccas", "queues", "traffic", "topologies", "transports", "nodes", "media")
KINDS = (*CORE_KINDS, "metrics", "experiments", "papers")
#: What there is of any kind: its keys depend on that.
Entry = Fields


@click.command("list", epilog=f"KIND: {either(KINDS)}.")
@click.argument("kind", type=Name("kind", KINDS), required=False, metavar="[KIND]")
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv", "markdown", "schema"]),
    default="table",
    show_default=True,
    help="What is printed; markdown is the documentation, schema the JSON schema of scenario files "
    "with all that there is.",
)
def command(kind: str | None, output: str) -> None:
    """List what there is: the catalogue, with sources and parameters of one KIND."""
    chosen = (kind,) if kind else KINDS
    if output == "schema":
        click.echo(_schema(kind))
        return
    if output == "markdown":
        give("\n\n".join(page(name) for name in chosen))
        return
    catalogue = {name: entries(name) for name in chosen}
    if output == "json":
        give(json.dumps(catalogue, ensure_ascii=False))
    elif output == "csv":
        rows = [{"kind": name, **entry} for name, listed in catalogue.items() for entry in listed]
        tables.write_csv(("kind", "name", "summary", "source"), rows)
    elif kind:
        _details(catalogue[kind])
    else:
        from sojourn.catalogue import title

        for name, listed in catalogue.items():
            cells = [(entry["name"], entry["summary"]) for entry in listed]
            tables.show(title(name), ("name", "summary"), cells, words=2)


def _schema(kind: str | None) -> str:
    """The JSON schema that editors check scenario files by."""
    from sojourn.schema import schema

    if kind:
        raise ScenarioError(f"--format schema: is of whole scenario files; leave {kind} out")
    return json.dumps(schema(), indent=2)


def page(kind: str) -> str:
    """The documentation of one kind."""
    from sojourn.catalogue import members, title
    from sojourn.described import describe

    parts = [f"# {title(kind)}"]
    if kind in CORE_KINDS:
        every = members(cast("Kind", kind), outside=True)
        parts += [part for member in every for part in describe(member, "##")]
    else:
        parts += [f"## {entry['name']}\n\n{_properties(entry)}" for entry in entries(kind)]
    return "\n\n".join(parts)


def _properties(entry: Entry) -> str:
    heads = ("name", "summary")
    listed = [f"- {name}: {value}" for name, value in entry.items() if name not in heads and value]
    return "\n".join([entry["summary"], *(["", *listed] if listed else [])])


def entries(kind: str) -> Sequence[Entry]:
    """The members of one kind: name, summary, source, parameters, what a metric declares."""
    if kind == "metrics":
        return list(_metrics())
    if kind == "experiments":
        from sojourn.experiments import experiments

        return experiments()
    if kind == "papers":
        return list(_papers())
    from sojourn.catalogue import members

    listed = map(asdict, members(cast("Kind", kind), outside=True))
    return [
        {k: v for k, v in member.items() if k not in ("documentation", "declares")}
        | member["declares"]
        for member in listed
    ]


def _metrics() -> Iterator[Entry]:
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
            "better": m.better,
        }


def _papers() -> Iterator[Entry]:
    from sojourn import data, installed
    from sojourn.errors import SojournError
    from sojourn.reproduction import found

    for name in installed.points(installed.REPRODUCTIONS):
        try:
            paper = found.paper(name)
        except SojournError as error:
            warn(str(error))
            continue
        source = data.path(f"reference/{paper.name}/SOURCE.md")
        yield {
            "name": paper.name,
            "summary": paper.title,
            "source": str(_from_here(source)) if source.exists() else None,
            "tables": list(paper.tables),
        }


def _from_here(path: Path) -> Path:
    """As short as opens from the current directory."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _details(listed: Sequence[Entry]) -> None:
    """Each member as a paragraph of its own; the documentation's code marks are left out."""
    from rich.padding import Padding
    from rich.text import Text

    console = tables.console()
    for entry in listed:
        console.print(Text(printable(entry["name"]), style="bold"))
        for part in _paragraphs(entry):
            console.print(Padding(part, (0, 0, 0, 4), expand=False))
        console.print()


def _paragraphs(entry: Entry) -> Iterator[RenderableType]:
    yield _plain(entry["summary"])
    if entry.get("source"):
        yield _plain(f"Source: {entry['source']}")
    if entry.get("tables"):
        yield _plain(f"Tables: {', '.join(entry['tables'])}")
    if "unit" in entry:
        yield _plain(
            f"{entry['scope']}; {entry['quantity']}, {entry['unit']}, layer {entry['layer']}; "
            f"{entry['aggregator']}, {entry['sampling']}; empty samples: {entry['empty']}"
            + (f"; better if {entry['better']}" if entry["better"] else "")
        )
    if entry.get("parameters"):
        yield _parameters(entry["parameters"])


def _parameters(parameters: Sequence[Entry]) -> RenderableType:
    from rich.table import Table

    from sojourn.catalogue import Parameter

    table = Table.grid(padding=(0, 2))
    wrapped = tables.console().is_terminal
    for share in (None, 24, 16, None):
        table.add_column(max_width=share if wrapped else None, overflow="fold")
    for parameter in (Parameter(**entry) for entry in parameters):
        cells = (parameter.name, parameter.type, parameter.written or "-", parameter.description)
        table.add_row(*map(_plain, cells))
    return table


def _plain(text: str) -> RenderableType:
    from rich.text import Text

    return Text(printable(text).replace("`", ""))
