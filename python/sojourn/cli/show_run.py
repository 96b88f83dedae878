"""What ``sojourn run`` prints of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables

if TYPE_CHECKING:
    from sojourn.backends.runs import Made
    from sojourn.measured import Measured
    from sojourn.outcome import Member, Transfers
    from sojourn.table import Table


def _json(result: Measured, _: bool) -> None:
    click.echo(json.dumps(result.to_json()))


def _rows(result: Measured) -> list[dict[str, object]]:
    """Every value with what it is of, for CSV."""
    document = result.to_json()
    rows: list[dict[str, object]] = []
    scopes: tuple[tuple[str, Sequence[Member | Transfers]], ...] = (
        ("flow", document["flows"]),
        ("link", document["links"]),
        ("net", [{"id": "", "metrics": document["net"]["metrics"]}]),
        ("group", document["groups"]),
        ("transfer", document.get("transfers", [])),
    )
    for scope, entries in scopes:
        for entry in entries:
            for name, value in entry["metrics"].items():
                key = {"scope": scope, "id": entry["id"], "cca": entry.get("cca", "")}
                rows.append({**key, "metric": name, "value": value})
    return rows


def _csv(result: Measured, _: bool) -> None:
    tables.write_csv(("scope", "id", "cca", "metric", "value"), _rows(result))


def _table(result: Measured, everything: bool) -> None:
    """The run at a glance, or the metrics that were asked for."""
    if result.requested is not None:
        _metrics(result)
    elif everything:
        _everything(result)
    else:
        summarise(result)
        tables.say("every metric: --all; every value: --format json or csv")


def summarise(result: Measured) -> None:
    """About ten lines: what was run, the main metrics, what to beware of."""
    from sojourn import overview, overview_transfers

    tables.say(overview.sentence(result))
    shown = [overview.flow_table(result), overview_transfers.transfers_table(result)]
    for table in shown:
        if table.rows:
            _show(table)
    lines = overview_transfers.loads_told(result) + overview.extremes_told(result)
    lines += [*overview.links_told(result), overview.together(result)]
    for line in [*filter(None, lines), *overview.warnings_told(result)]:
        tables.say(line)


def _everything(result: Measured) -> None:
    """What was run, every metric, and what to beware of; many flows as groups."""
    from sojourn import overview

    tables.say(overview.sentence(result))
    _metrics(result)
    for warning in overview.warnings_told(result):
        tables.say(warning)


def _metrics(result: Measured) -> None:
    """The metrics that are requested, or all."""
    from sojourn import metric_tables

    for table in metric_tables.by_scope(result):
        _show(table)


def _show(table: Table) -> None:
    tables.show(table.title, table.header, table.rows, table.words)


_PRINTERS: dict[str, Callable[[Measured, bool], None]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
}


def show_runs(made: Made, output: str, *, everything: bool) -> None:
    """Prints a run, or several, or how backends differ."""
    if made.is_one:
        _PRINTERS[output](made.every[0], everything)
    elif output == "json":
        documents = [run.to_json() for run in made.every]
        of_backends = {"scenario": made.scenario.canonical, "backends": made.rows}
        click.echo(json.dumps({**(of_backends if made.rows else documents[0]), "runs": documents}))
    elif not made.rows:
        for run in made.every:
            _PRINTERS[output](run, everything)
    elif output == "csv":
        tables.write_csv(made.columns, made.rows)
    else:
        cells = [[row[c] if row[c] is not None else "" for c in made.columns] for row in made.rows]
        tables.show(made.scenario.name, made.columns, cells, words=3)
