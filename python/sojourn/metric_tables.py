"""Every metric of a run in tables: a row per metric, a column per member or group of flows."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import polars as pl

from sojourn.groups import Group, groups
from sojourn.measured import SCOPES, Measured
from sojourn.metrics import Metric, Scope, metrics
from sojourn.overview import flow_names, spread
from sojourn.table import Table

#: More flows than this are shown as groups.
MOST_FLOWS, _MOST_GROUPS = 12, 6

_TITLES = {"net": "Network", "group": "Groups of flows", "transfer": "Transfers that come and go"}


def by_scope(result: Measured) -> list[Table]:
    """Flows, links and network: what is requested, or all."""
    chosen = [(plural, scope, _chosen(result, scope)) for plural, scope in SCOPES.items()]
    return [
        _table(_TITLES.get(scope, plural.capitalize()), result, scope, of_scope, explained=False)
        for plural, scope, of_scope in chosen
        if of_scope and _members(result, scope)
    ]


def by_family(result: Measured) -> list[Table]:
    """One table for each family of metrics that have a value, each with what it means."""
    tables = []
    for scope in SCOPES.values():
        families: dict[str, list[Metric]] = {}
        for metric in _known(result, scope) if _members(result, scope) else []:
            families.setdefault(family_title(metric), []).append(metric)
        tables += [
            _table(title, result, scope, chosen, explained=True)
            for title, chosen in families.items()
        ]
    return tables


def _chosen(result: Measured, scope: Scope) -> list[Metric]:
    names = result.requested
    return [m for m in metrics(scope) if (not m.on_request if names is None else m.name in names)]


def _known(result: Measured, scope: Scope) -> list[Metric]:
    """Those of which anything is known."""
    chosen = _chosen(result, scope)
    frame = result.frame(scope, chosen)
    return [metric for metric in chosen if frame[metric.name].is_not_null().any()]


def _members(result: Measured, scope: Scope) -> int:
    return result.frame(scope, ()).height if scope != "net" else 1


def family_title(metric: Metric) -> str:
    """The name of a metric's family and what it is about."""
    module = metric.compute.__module__
    about = (sys.modules[module].__doc__ or "").strip().partition("\n")[0].rstrip(":.")
    name = module.rpartition(".")[2].replace("_", " ").strip().capitalize()
    return f"{name}: {about[:1].lower()}{about[1:]}" if about else f"{name} ({metric.scope})"


def _table(
    title: str, result: Measured, scope: Scope, chosen: Sequence[Metric], *, explained: bool
) -> Table:
    frame = result.frame(scope, chosen)
    many = scope == "flow" and frame.height > MOST_FLOWS
    grouped = groups(result, _MOST_GROUPS) if many else []
    names = [f"{g.name} ({len(g.flows):,})" for g in grouped] or _names(result, scope, frame)
    rows, best = [], set()
    left = 3 if explained else 2
    for number, metric in enumerate(chosen):
        values = frame[metric.name]
        cells = [_of_group(values, g) for g in grouped] or values.to_list()
        rows.append([metric.name, metric.unit, *([metric.summary] if explained else []), *cells])
        best |= {(number, left + column) for column in _best(metric, cells)}
    header = ["metric", "unit", *(["what it is"] if explained else []), *names]
    return Table(title, header, rows, frozenset(best), words=left)


def _names(result: Measured, scope: Scope, frame: pl.DataFrame) -> list[str]:
    if scope == "flow":
        return flow_names(result)
    return frame["id"].to_list() if "id" in frame.columns else ["value"]


def _of_group(values: pl.Series, group: Group) -> str:
    return spread(values.cast(pl.Float64).to_numpy()[group.flows])


def _best(metric: Metric, cells: Sequence[object]) -> list[int]:
    """Columns of the best value, if there is anything to choose from."""
    known = [cell for cell in cells if isinstance(cell, float | int)]
    if metric.better is None or len(set(known)) < 2:
        return []
    best = max(known) if metric.better == "higher" else min(known)
    return [column for column, cell in enumerate(cells) if cell == best]
