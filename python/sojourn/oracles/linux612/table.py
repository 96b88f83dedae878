"""The measured table of Linux 6.12 in virtual time: its columns, its rows, the file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sojourn import csv_table, data
from sojourn.measured import Measured
from sojourn.oracles.linux618.cells import CellRun

FOLDER = "experiments/linux612"
#: Ticks per second of the simulator's stack.
HZ = 1000
#: The experiment whose controls the simulator does not have.
ONLY_KERNEL = "kernel-only"
TABLE = "reference/linux612/grid.csv"
#: The table's columns and the metrics that measure the same, with their decimals.
METRICS = {
    "goodput": ("mean_throughput_l4", 4),
    "mean_srtt": ("mean_srtt_l4", 3),
    "mean_cwnd": ("mean_cwnd_l4", 2),
    "retrans": ("total_retransmissions_l4", 0),
    "rtos": ("total_rtos_l4", 0),
    "completion_s": ("flow_completion_time_l4", 6),
}
#: What the simulator is compared in.
COMPARED = ("goodput", "mean_srtt", "retrans", "completion_s")
KEYS = ("experiment", "changes", "flow", "cca")
COLUMNS = (*KEYS, *METRICS, "kernel", "hz", "seconds")
Row = dict[str, Any]


def rows(run: CellRun, result: Measured) -> list[Row]:
    """One row per flow of a run."""
    wanted = [metric for metric, _ in METRICS.values()]
    shared = {
        "experiment": run.experiment,
        "changes": run.changes,
        "kernel": result.origin["kernel"],
        "hz": result.origin["hz"],
        "seconds": f"{result.timing['wall_seconds']:.1f}",
    }
    flows = result.request(wanted).flows.to_dicts()
    return [{"flow": flow["id"], "cca": flow["cca"], **shared, **_measured(flow)} for flow in flows]


def _measured(flow: dict[str, Any]) -> Row:
    found = {}
    for name, (metric, decimals) in METRICS.items():
        value = flow[metric]
        found[name] = "" if value is None else f"{value:.{decimals}f}"
    return found


def read(path: Path) -> list[Row]:
    """The rows of the table so far; none if there is no table."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return csv_table.read(file)


def comparable() -> list[Row]:
    """Those of controls that the simulator has."""
    return [row for row in read(data.path(TABLE)) if row["experiment"] != ONLY_KERNEL]


def append(path: Path, new: Iterable[Row]) -> None:
    """Adds rows at the end."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        csv_table.write(file, COLUMNS, new, header=is_new)
