"""The tables of sections 3.1 to 3.3, published beside measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from sojourn.reproduction.sheet import Sheet
from sojourn.reproduction.statements import Row
from sojourn_reproductions.gnat2021.sliq.cells import TABLES

_TITLES = {
    "sliq_sharing": "Two flows with the same control while the rate changes",
    "sliq_speed_changes": "How far each rate is filled (%)",
    "sliq_delay_changes": "The rate while the delay changes",
    "sliq_capacity": "Estimates of the capacity (Mbit/s) while the rate changes",
    "sliq_dual_changes": "Cubic and Copa in parallel while the path changes",
    "sliq_outages": "Both ends in an outage",
    "aec_goodput": "Adaptive error control over losses and deadlines",
    "aec_efficiency": "Its efficiency over losses and deadlines",
    "sliq_packet_loss": "Goodput (Mbit/s) against packet error rate",
    "sliq_link_speed": "Goodput (Mbit/s) against link rate, 1 ms one way",
    "sliq_link_delay": "Goodput (Mbit/s) against one-way delay (ms), 10 Mbit/s",
    "sliq_packets_delivered": "Data packets delivered while the path changes",
    "sliq_dual_buffering": "Cubic and Copa in parallel against LinkEm's buffer",
    "aec_delivery_delay": "Adaptive error control, 40 % loss both ways",
    "aec_path_changes": "Raw goodput while the packet error rate changes, deadline 50 ms",
}


def sheets(rows: Sequence[Row]) -> Iterator[Sheet]:
    """One table per table of the report that has rows."""
    for table in TABLES:
        mine = [row for row in rows if row["table"] == table]
        if mine:
            yield _sheet(table, mine)


def _sheet(table: str, rows: Sequence[Row]) -> Sheet:
    columns = list(dict.fromkeys(row["column"] for row in rows))
    header = ["section", "row"]
    for column in columns:
        header += [f"{column}, pub.", "here"]
    lines = []
    for (section, name), group in groupby(rows, lambda row: (row["section"], row["row"])):
        cells = {row["column"]: row for row in group}
        line = [section, name]
        for column in columns:
            cell = cells.get(column, {})
            line += [cell.get("published"), cell.get("measured")]
        lines.append(line)
    return Sheet(table, f"{_sections(rows)}: {_TITLES[table]}", header, lines, words=2)


def _sections(rows: Sequence[Row]) -> str:
    return ", ".join(dict.fromkeys(row["section"] for row in rows))
