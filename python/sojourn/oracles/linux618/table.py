"""Rows of the measured table: what a live run gives, and the file that they are appended to."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sojourn import csv_table
from sojourn.measured import Measured
from sojourn.oracles.linux618.cells import CellRun

#: Columns that the first half of the table has.
FIRST = (
    *("flows", "rate_mbit", "rtt_ms", "buffer_packets", "loss", "duration_s", "rep", "flow", "cca"),
    *("goodput", "mean_srtt", "min_rtt", "mean_cwnd", "retrans", "link_mbps", "qdelay_ms"),
    *("tail_drops", "rand_drops", "err_p99_us"),
)
#: Columns of the rows that were measured with Sojourn itself.
APPENDED = (
    *("experiment", "changes", "completion_s", "rtos", "spurious", "recovery_ms", "ce_marks"),
    *("aqm_drops", "policed", "ack_drops", "duplicated", "quality", "longest_gap_ms", "cpu_steal"),
    *("host", "machine", "kernel", "measured"),
)
COLUMNS = (*FIRST, *APPENDED)
Row = dict[str, Any]

_METRICS = {
    "goodput": ("mean_throughput_l4", 3),
    "mean_srtt": ("mean_srtt_l4", 2),
    "mean_cwnd": ("mean_cwnd_l4", 1),
    "retrans": ("total_retransmissions_l4", 0),
    "completion_s": ("flow_completion_time_l4", 4),
    "rtos": ("total_rtos_l4", 0),
    "spurious": ("total_spurious_retransmissions_l4", 0),
    "recovery_ms": ("mean_recovery_time_l4", 1),
}
_LINK = {
    "tail_drops": "drops_overflow",
    "rand_drops": "drops_loss",
    "ce_marks": "ce_marks",
    "aqm_drops": "drops_aqm",
    "policed": "drops_policed",
    "duplicated": "duplicated_packets",
}


def rows(run: CellRun, result: Measured) -> list[Row]:
    """One row per flow of a run."""
    shared = {**run.setup(), "rep": run.repetition + 1, **_of_link(result), **_origin(result)}
    shared |= {"experiment": run.experiment, "changes": run.changes}
    wanted = [metric for metric, _ in _METRICS.values()]
    flows = result.request(wanted).flows.to_dicts()
    return [{**shared, **_of_flow(flow, result)} for flow in flows]


def _of_flow(flow: dict[str, Any], result: Measured) -> Row:
    found = {name: _rounded(flow[metric], to) for name, (metric, to) in _METRICS.items()}
    smallest = result.data.flow.samples["min_rtt"][-1, flow["id"]]
    return {"flow": flow["id"], "cca": flow["cca"], **found, "min_rtt": _rounded(1e3 * smallest, 3)}


def _of_link(result: Measured) -> Row:
    links = result.series.links.to_dict(as_series=False)
    names = [link["id"] for link in result.data.network["links"]]

    def total(column: str, name: str) -> float:
        if name not in names:
            return 0.0
        here = zip(links["link"], links[column], strict=True)
        return float(sum(value for link, value in here if link == names.index(name)))

    seconds = result.timing["simulated_seconds"]
    packets = total("sojourn_count", "bottleneck")
    delay = 1e3 * total("sojourn_sum", "bottleneck") / packets if packets else float("nan")
    counts = {name: int(total(column, "bottleneck")) for name, column in _LINK.items()}
    return {
        **counts,
        "link_mbps": _rounded(8e-6 * total("sent_bytes", "bottleneck") / seconds, 3),
        "qdelay_ms": _rounded(delay, 3),
        "ack_drops": int(total("drops_loss", "bottleneck_reverse")),
    }


def _origin(result: Measured) -> Row:
    quality = result.origin["quality"]
    late = quality["release_error_ms"]["p99"]
    return {
        "err_p99_us": _rounded(None if late is None else 1e3 * late, 0),
        "quality": "valid" if quality["valid"] else "invalid",
        "longest_gap_ms": _rounded(quality["longest_gap_ms"], 2),
        "cpu_steal": _rounded(quality["cpu_steal"], 4),
        "host": result.origin["host"],
        "machine": machine(),
        "kernel": result.origin["kernel"],
        "measured": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def machine() -> str:
    """Processors of this machine: how many, and which."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} x {models[0] if models else platform.machine()}"


def _rounded(value: float | None, digits: int) -> str:
    """A number as text; empty where it is not known."""
    if value is None or value != value:  # noqa: PLR0124 (not a number)
        return ""
    return f"{value:.{digits}f}"


def present(path: Path) -> set[tuple[str, str, int]]:
    """Keys of the runs that the table has."""
    with path.open(encoding="utf-8", newline="") as file:
        table = csv_table.read(line for line in file if not line.startswith("#"))
        return {
            (row["experiment"], row["changes"], int(row["rep"]) - 1)
            for row in table
            if row.get("experiment")
        }


def widen(path: Path) -> None:
    """Gives a table of the first columns the others as well; what it says stays."""
    lines = path.read_text(encoding="utf-8").splitlines()
    header = next(index for index, line in enumerate(lines) if not line.startswith("#"))
    if lines[header] == ",".join(COLUMNS):
        return
    empty = "," * len(APPENDED)
    lines[header:] = [",".join(COLUMNS), *(line + empty for line in lines[header + 1 :])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def append(path: Path, new: Iterable[Row], columns: Sequence[str] = COLUMNS) -> None:
    """Adds rows at the end."""
    with path.open("a", encoding="utf-8", newline="") as file:
        csv_table.write(file, columns, new, header=False)
