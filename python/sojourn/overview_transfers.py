"""Transfers that come and go at a glance: how long they take by size, and what they load."""

from __future__ import annotations

from math import isfinite

from sojourn.measured import Measured
from sojourn.metrics.transfer_view import size_text, sizes_text
from sojourn.numbers import with_uncertainty
from sojourn.table import Table

#: What is told of each label and bin: the metric, its head, and the factor to its unit.
_TOLD = (
    ("fct_p50", "p50 (ms)", 1e3),
    ("fct_p95", "p95 (ms)", 1e3),
    ("fct_p99", "p99 (ms)", 1e3),
    ("slowdown_p50", "slowdown p50", 1.0),
    ("slowdown_p99", "slowdown p99", 1.0),
)


def transfers_table(result: Measured) -> Table:
    """Completion times and slowdowns by label and size, with intervals by batch means."""
    members = result.data.transfer.members
    counts = result.values("transfer", "count")
    columns = [_cells(result, name, factor) for name, _, factor in _TOLD]
    rows = [
        [member.label, sizes_text(member.sizes) if member.sizes else "all", int(count), *cells]
        for member, count, *cells in zip(members, counts, *columns, strict=True)
    ]
    title = "Completion times and slowdowns of transfers (± 95 % confidence)"
    return Table(title, ["label", "size", "n", *(head for _, head, _ in _TOLD)], rows, words=2)


def loads_told(result: Measured) -> list[str]:
    """A line for each label: what it offers, what is carried, how many are under way."""
    lines = []
    for place, member in enumerate(result.data.transfer.members):
        if member.sizes is None:
            size = result.data.network["arrivals"][member.entry]["mean_size"]
            told = [*_loads(result, place), f"mean size {size_text(float(f'{size:.3g}'))}"]
            lines.append(f"{member.label}: {'; '.join(told)}")
    return lines


def _loads(result: Measured, place: int) -> list[str]:
    offered, wire, carried, mean, most = (
        float(result.values("transfer", name)[place])
        for name in ("offered_load", "offered_wire_load", "carried_load", "mean_live", "most_live")
    )
    told = []
    if isfinite(offered):
        carries = f", {carried:.2f} carried" if isfinite(carried) else ""
        told.append(f"load {offered:.2f} offered ({wire:.2f} on the wire){carries}")
    if isfinite(mean):
        told.append(f"{mean:.3g} live on average, {most:.0f} at most")
    return told


def _cells(result: Measured, name: str, factor: float) -> list[str]:
    values = result.values("transfer", name)
    halves = result.intervals(name)
    return [
        with_uncertainty(factor * float(value), factor * float(half))
        for value, half in zip(values, halves, strict=True)
    ]
