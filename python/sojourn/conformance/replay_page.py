"""The page of the replays beside the kernel's sources.

``sojourn conformance --against DIR`` writes it with its table.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from sojourn import csv_table
from sojourn.conformance import situations
from sojourn.conformance.replay import COLUMNS, MARGINS, Row
from sojourn.store.files import write_together

_INTRODUCTION = f"""\
# Replay beside Linux's sources

Is our Cubic Linux's Cubic? Unchanged sources of the Linux kernel run beside our own controls and
queue disciplines, and every step that differs is found. In *open loop* both are called for the
same series of ACKs and losses, or of arrivals and departures: windows and thresholds may differ by
one segment, packets must leave, be dropped and be marked alike. In *closed loop* each runs by
itself: goodput may differ by {MARGINS["mean_throughput_l7"]:.0%}, the smoothed RTT by
{MARGINS["mean_srtt_l4"]:.0%}. Both clocks tick every millisecond, and both draw from the same
random streams.

Written by `sojourn conformance --against DIR`; do not edit.
"""
_LEGEND = """\
`same`: no difference at any step, or beyond the margins; `explained`: below; `parts`: not
explained; `runs`: there is no counterpart to compare with. What does not run is named.
"""


def written(rows: Sequence[Row], out: Path) -> None:
    """Writes ``replay.csv`` and ``replay.md`` into a directory."""
    table = io.StringIO(newline="")
    csv_table.write_lines(table, [COLUMNS, *(row.cells() for row in rows)])
    texts = {"replay.csv": table.getvalue(), "replay.md": page(rows)}
    write_together(out, {name: partial(_write, text) for name, text in texts.items()})


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def page(rows: Sequence[Row]) -> str:
    """The page in Markdown."""
    parts = [_INTRODUCTION, _scenarios(), _LEGEND]
    for kind, title in (("control", "Congestion controls"), ("queue", "Queue disciplines")):
        chosen = [row for row in rows if row.kind == kind]
        if chosen:
            parts += [f"## {title}\n", _table(chosen)]
    apart = [row for row in rows if row.first_difference or row.verdict == "does not run"]
    if apart:
        parts += ["## Where they part, and why\n", *map(_paragraph, _merged(apart))]
    return "\n".join(parts)


def _scenarios() -> str:
    """What the names of scenarios mean."""
    queues = {name: path for name, (_, path, _) in situations.TRAFFIC.items()}
    lines = ["Bottlenecks of 20 Mbit/s and round trips of 40 ms, unless another is named:\n"]
    groups = {
        "controls": situations.CONTROLS,
        "DCTCP": situations.MARKS,
        "disciplines": queues,
        "Cake": {name: mode.path for name, mode in situations.CAKE.items()},
    }
    for group, paths in groups.items():
        told = "; ".join(f"*{name}*: {path.told}" for name, path in paths.items())
        lines.append(f"- {group}: {told}.")
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row]) -> str:
    """Names by versions and loops; a cell has the worst verdict of the scenarios."""
    columns = sorted({(row.version, row.loop) for row in rows}, key=lambda c: (float(c[0]), c[1]))
    head = ["name", *(f"{version} {loop}" for version, loop in columns), "steps"]
    lines = [head, ["---"] * len(head)]
    for name in dict.fromkeys(row.name for row in rows):
        own = [row for row in rows if row.name == name]
        cells = [_worst(row for row in own if (row.version, row.loop) == c) for c in columns]
        lines.append([f"`{name}`", *cells, f"{sum(row.steps or 0 for row in own):,}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _worst(rows: Iterable[Row]) -> str:
    order = ["does not run", "parts", "explained", "same", "runs"]
    return min((row.verdict for row in rows), key=order.index, default="")


def _merged(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Rows by name and reason."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.name, row.note), []).append(row)
    return [(note, group) for (_, note), group in groups.items()]


def _paragraph(merged: tuple[str, list[Row]]) -> str:
    note, rows = merged
    lines = [f"**{rows[0].name}**: {note}.\n"]
    lines += [
        f"- {row.version}, {row.scenario}, {row.loop} loop: {row.first_difference or 'no run'}."
        for row in rows
    ]
    return "\n".join(lines) + "\n"
