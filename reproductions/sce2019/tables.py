"""The draft's tables: what each is of, and what its authors printed."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

from sojourn import data

CONTROLS = ("cubic", "reno", "reno-sce", "dctcp", "dctcp-sce")
PAIRS = tuple(combinations_with_replacement(CONTROLS, 2))
ONE_FLOW = "one-flow"
MODES = ("flowblind", "flowblind sce-single", "triple-isolate")
THROUGHPUT, RTT = "throughput_mbit", "rtt_ms"
THROUGHPUT_DIFFERENCE, RTT_DIFFERENCE, JAIN = "throughput_difference", "rtt_difference_ms", "jain"
#: Not a table: when a flow first fills 100 Mbit/s at 160 ms, which the draft's text tells.
TEXT, FILLED = "text", "filled_s"

ONE_FLOW_GRID = (
    ("0.5", "1", "2", "5", "10", "25", "50", "100"),
    ("0", "2", "5", "10", "20", "40", "80", "160"),
)
TWO_FLOW_GRID = (("1", "5", "10", "50", "100"), ("0", "10", "20", "80"))
KEYS = ("table", "cake_mode", "metric", "flow1", "flow2", "flow", "bandwidth_mbit", "delay_ms")


@dataclass(frozen=True)
class Table:
    """One table: rows are bandwidths, columns are delays."""

    number: str
    mode: str
    metric: str
    flow1: str
    #: The other flow of a pair; in a table of differences, the control that is subtracted.
    flow2: str = ""

    @property
    def is_difference(self) -> bool:
        """Whether it compares two runs of one flow each."""
        return self.metric in (THROUGHPUT_DIFFERENCE, RTT_DIFFERENCE)

    @property
    def is_raw(self) -> bool:
        """Whether it holds what was measured, not what was derived from it."""
        return self.metric in (THROUGHPUT, RTT)

    @property
    def flows(self) -> tuple[str, ...]:
        """The flows that it has a value of: none in particular, or each of them."""
        if not self.is_raw:
            return ("",)
        return ("1", "2") if self.flow2 else ("1",)

    @property
    def grid(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Its bandwidths (Mbit/s) and delays (ms)."""
        if self.metric == FILLED:
            return ("100",), ("160",)
        return ONE_FLOW_GRID if self.mode == ONE_FLOW else TWO_FLOW_GRID

    @property
    def title(self) -> str:
        """As a heading."""
        between = " - " if self.is_difference else " vs "
        who = between.join(filter(None, (self.flow1, self.flow2)))
        return f"Table {self.number}: {self.metric}, {who}, {self.mode}"


def _derived() -> Iterator[Table]:
    pairs = (("reno-sce", "reno"), ("dctcp-sce", "dctcp"))
    for number, (pair, metric) in enumerate(
        ((p, m) for p in pairs for m in (THROUGHPUT_DIFFERENCE, RTT_DIFFERENCE)), start=1
    ):
        yield Table(str(number), ONE_FLOW, metric, *pair)
    blind, single, isolated = MODES
    fairness = (
        (blind, "reno", "reno"),
        (blind, "reno", "reno-sce"),
        (blind, "cubic", "dctcp-sce"),
        (single, "reno", "reno-sce"),
        (single, "cubic", "dctcp-sce"),
        (isolated, "cubic", "dctcp-sce"),
        (isolated, "dctcp", "dctcp-sce"),
    )
    for number, (mode, *flows) in enumerate(fairness, start=5):
        yield Table(str(number), mode, JAIN, *flows)


def _raw() -> Iterator[Table]:
    number = 12
    for metric in (THROUGHPUT, RTT):
        for control in CONTROLS:
            yield Table(str(number), ONE_FLOW, metric, control)
            number += 1
    for metric in (THROUGHPUT, RTT):
        for mode in MODES:
            for pair in PAIRS:
                yield Table(str(number), mode, metric, *pair)
                number += 1


TABLES: Mapping[str, Table] = {
    table.number: table
    for table in (
        *_derived(),
        *_raw(),
        *(Table(f"{TEXT}-{c}", ONE_FLOW, FILLED, c) for c in ("dctcp", "dctcp-sce")),
    )
}

Place = tuple[str, str, str, str]


@cache
def run_lengths() -> Mapping[tuple[str, str], str]:
    """Seconds that the runs of a bandwidth and a delay took, from the authors' own batch file."""
    path = data.path("reference/sce2019/run_lengths.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {(row["bandwidth_mbit"], row["delay_ms"]): row["seconds"] for row in rows}


@cache
def published() -> Mapping[Place, str]:
    """The printed values by table, flow, bandwidth and delay."""
    values = {}
    folder = data.path("reference/sce2019")
    for name in ("text.csv", "raw_results.csv", "body_tables.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                place = (row["table"], row.get("flow", ""), row["bandwidth_mbit"], row["delay_ms"])
                values[place] = row["value"]
    return values
