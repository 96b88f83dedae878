"""Section 7.1: what BBR and Cubic send for a transfer, over RTTs and losses (figures 15 to 17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sojourn.campaign.cases import Outcome
from sojourn.reproduction.paper import Cell, Request
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020 import controls
from sojourn_reproductions.lin2020.comparative import LOSSES, OF_COST, RTTS, place
from sojourn_reproductions.lin2020.printed import value
from sojourn_reproductions.lin2020.runs import (
    Measure,
    Runs,
    of_flow,
    of_link,
    replications,
    scenario,
)
from sojourn_reproductions.lin2020.section import PRINTED, Judged, Section

if TYPE_CHECKING:
    from sojourn.figures.chart import Chart

VOLUME, PER_PACKET, PER_LOSS, EXCESS = "figure-15", "figure-16", "figure-17", "figure-15c"
_WHY = Judged(PRINTED, "rate, RTT, loss and size are printed", "dfc36010 (2026-11-22)")
#: Bytes of a transfer, printed and ours.
_SIZES = (10**9, 10**8)
_ROWS = (*controls.readings("BBR"), "CUBIC")
_QUICK = ((30, 200), ("0.1", "1"))


def _per_byte(size: int, outcome: Outcome) -> float | None:
    """Bytes on the wire, both ways, per byte transferred."""
    sent = of_flow("on_wire_bytes_l1", outcome)
    return None if sent is None else sent / size


def _per_loss(outcome: Outcome) -> float | None:
    """Segments sent again per data packet that the path lost."""
    lost = sum(of_link(m, outcome) or 0 for m in ("total_link_losses_l1", "total_qdisc_drops_l2"))
    again = of_flow("total_retransmissions_l4", outcome)
    return again / lost if again is not None and lost else None


def _excess(bbr: Outcome, cubic: Outcome) -> float | None:
    """How much more BBR puts on the wire than Cubic, per cent."""
    more, less = of_flow("on_wire_bytes_l1", bbr), of_flow("on_wire_bytes_l1", cubic)
    return 100 * (more / less - 1) if more and less else None


def _cells(table: str, request: Request) -> Iterator[Cell]:
    size = _SIZES[0 if request.full else 1]
    measures: Mapping[str, Measure] = {
        VOLUME: partial(_per_byte, size),
        PER_PACKET: partial(of_flow, "retransmissions_per_packet_sent_l4"),
        PER_LOSS: _per_loss,
    }
    rtts, losses = _QUICK if request.quick else (RTTS, LOSSES)
    for rtt in rtts:
        for loss in losses:
            runs = {row: _runs(row, rtt, loss, size, request) for row in _ROWS}
            if table == EXCESS:
                row, column = f"RTT={rtt}ms", f"loss={loss}%"
                keys = {"form": PRINTED, "table": table, "row": row, "column": column}
                both = [(a, b) for (a,), (b,) in zip(runs["BBR"], runs["CUBIC"], strict=True)]
                known = None if request.overrides else value(table, row, column, "Path")
                yield Cell(keys, known, both, _excess)
                continue
            for row in _ROWS:
                keys = {"form": PRINTED, "table": table, "row": row, "column": place(rtt, loss)}
                yield Cell(keys, None, runs[row], measures[table])


def _runs(row: str, rtt: int, loss: str, size: int, request: Request) -> Runs:
    document = scenario("cost", row)
    document["flows"][0] |= {"rtt": f"{rtt} ms", "traffic": {"kind": "sized", "size": f"{size} B"}}
    bottleneck = document["topology"]["bottleneck"]
    bottleneck |= {"loss": f"{loss} %", "reverse_loss": f"{loss} %"}
    # A transfer ends by itself: --quick does not cut it off.
    return replications(document, replace(request, quick=False))


def _charts(rows: Sequence[Row]) -> Mapping[str, Chart]:
    from sojourn_reproductions.lin2020 import charts

    return charts.cost(rows)


COST = Section(
    tables=dict.fromkeys((VOLUME, EXCESS, PER_PACKET, PER_LOSS), _WHY),
    cells=_cells,
    statements=OF_COST,
    charts=_charts,
)
